package pleg

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
)

// othersTurn is which turn is for a pod that nobody waits for, while there are
// pods somebody waits for.
const othersTurn = 4

// queue are the pods whose inspection waits for a slot: first those that somebody
// asked about, and of these and the others the first that came. A pod may be in it
// more often than its turn comes; its record says whether it still has one.
type queue struct {
	asked, others []types.UID
	turn          int
}

func (q *queue) add(uid types.UID, asked bool) {
	if asked {
		q.asked = append(q.asked, uid)
	} else {
		q.others = append(q.others, uid)
	}
}

// next takes the pod whose turn it is, false if there is none.
func (q *queue) next() (types.UID, bool) {
	if len(q.asked)+len(q.others) == 0 {
		*q = queue{} // gives the memory of a burst back
		return "", false
	}
	from := &q.asked
	q.turn++
	if len(q.asked) == 0 || q.turn%othersTurn == 0 && len(q.others) > 0 {
		from = &q.others
	}
	uid := (*from)[0]
	*from = (*from)[1:]
	return uid, true
}

// fill begins inspections as long as there are slots and pods that wait.
func (g *Generator) fill(ctx context.Context) {
	for {
		select {
		case g.slots <- struct{}{}:
		default:
			return
		}
		uid, rec := g.nextQueued()
		if rec == nil {
			<-g.slots
			return
		}
		g.call(ctx, uid, rec)
	}
}

func (g *Generator) nextQueued() (types.UID, *record) {
	for {
		uid, ok := g.queue.next()
		if !ok {
			return "", nil
		}
		if rec := g.records[uid]; rec != nil && rec.queued && !rec.inFlight {
			return uid, rec
		}
	}
}
