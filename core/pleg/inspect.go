package pleg

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// slotTime is how long an inspection holds its slot. After that it hangs: it
// goes on, but others no longer wait for it. The more hang the less time the
// next has, at least minSlotTime: however many hang, others wait little longer
// than slotTime in all.
const (
	slotTime    = 2 * time.Second
	minSlotTime = 20 * time.Millisecond
)

// inspection is the answer to an inspection of one pod.
type inspection struct {
	uid types.UID
	at  time.Time
	pod status.ObservedPod
	err error
	// took is how long it took since it was wanted, the wait for a slot included.
	took time.Duration
}

// handleRequests inspects the pods for which there are requests.
func (g *Generator) handleRequests(ctx context.Context) {
	byUID, byID := g.requests.take()
	for id, r := range byID {
		for uid, rec := range g.records { // rare: of sandboxes that are gone
			if rec.old.has(id) || rec.current.has(id) {
				byUID[uid] = byUID[uid].merge(r)
			}
		}
	}
	for uid, r := range byUID {
		if r.event {
			delete(g.stream.suspects, uid)
		}
		g.handleRequest(ctx, uid, r)
	}
}

// handleRequest inspects a pod, unless what is known or under way is as new as that
// would be, or a delayed inspection is enough.
func (g *Generator) handleRequest(ctx context.Context, uid types.UID, r inspectRequest) {
	rec := g.record(uid)
	// Where nothing runs nothing can end, and a worker that starts something asks about it.
	// What an inspection under way will show to run is not known.
	soon := r.delayable || !r.asked && !rec.inFlight && rec.old.allExited()
	now := g.cfg.Now()
	switch {
	case g.stream.trusted && (soon || r.alsoDelayed):
		g.delayed.add(uid, now.Add(g.cfg.Period), now, r.alsoDelayed)
	case r.alsoDelayed:
		g.stream.delayAlso(uid)
	}
	switch {
	case soon && g.stream.trusted:
		rec.eventPending = rec.eventPending || !r.delayable
		rec.asOf = later(rec.asOf, r.newer.Add(1))
	case g.cfg.Cache.newer(uid, r.newer):
	case rec.inFlight && rec.begun.After(r.newer):
		rec.eventAt = earlier(rec.eventAt, r.eventAt)
	default:
		g.inspect(ctx, uid, rec, r)
	}
}

// inspect inspects a pod as soon as there is a slot for it and no other inspection of
// it is in flight. Until then more requests change nothing.
func (g *Generator) inspect(ctx context.Context, uid types.UID, rec *record, r inspectRequest) {
	now := g.cfg.Now()
	rec.asOf = later(now, r.newer.Add(1))
	rec.newer = later(rec.newer, r.newer)
	rec.since = earlier(rec.since, now)
	rec.nextEventAt = earlier(rec.nextEventAt, r.eventAt)
	first := !rec.queued || r.asked && !rec.asked
	rec.asked = rec.asked || r.asked
	if rec.inFlight {
		rec.again = true
		return
	}
	rec.queued = true
	if first {
		g.queue.add(uid, rec.asked)
	}
	g.startQueued(ctx)
}

// startInspection begins an inspection. The caller has taken a slot, which is given
// back when the inspection has ended, or hangs.
func (g *Generator) startInspection(ctx context.Context, uid types.UID, rec *record) {
	newer, since := rec.newer, rec.since
	rec.begun = later(g.cfg.Now(), newer.Add(1))
	rec.asOf = later(rec.asOf, rec.begun)
	rec.eventAt = earlier(rec.eventAt, rec.nextEventAt)
	rec.eventPending = false
	rec.clearRequest()
	g.delayed.inspectionStarted(uid)
	callCtx, cancel := context.WithCancel(ctx)
	rec.inFlight, rec.cancel = true, cancel
	release := sync.OnceFunc(func() { <-g.slots })
	hangs := time.AfterFunc(max(slotTime/time.Duration(1+max(g.hanging.Load(), 0)), minSlotTime), func() {
		g.hanging.Add(1)
		release()
		select {
		case g.freed <- struct{}{}:
		default: // it has been told
		}
	})
	g.running.Go(func() {
		defer cancel()
		result := g.callRuntime(callCtx, uid, newer)
		result.took = g.cfg.Now().Sub(since)
		if !hangs.Stop() {
			g.hanging.Add(-1)
		}
		release()
		select {
		case g.inspections <- result:
		case <-ctx.Done():
		}
	})
}

// finishInspection handles the end of an inspection: the cache has it before any event
// is delivered. A failure delivers nothing and is tried again.
func (g *Generator) finishInspection(ctx context.Context, i inspection) {
	g.cfg.Observer.Inspected(i.took)
	rec := g.records[i.uid]
	again := rec.again
	rec.inFlight, rec.again = false, false

	switch {
	case rec.stale:
		rec.stale, rec.eventAt = false, time.Time{}
		again = again || rec.current != nil
		if !again && !g.delayed.has(i.uid) {
			delete(g.records, i.uid)
		}
	case i.err != nil:
		i.err = fmt.Errorf("inspecting pod %s/%s (uid %s): %w", rec.namespace, rec.name, i.uid, i.err)
		if !rec.failed {
			g.cfg.Logger.Warn("pod inspection failed", "pod", rec.namespace+"/"+rec.name, "uid", i.uid, "err", i.err)
		}
		rec.failed = true
		g.cfg.Cache.SetError(i.uid, i.err, i.at)
		g.delayInspection(i.uid, rec)
	default:
		g.applyInspection(rec, i)
		again = again || !rec.old.equal(rec.current)
		g.delayInspection(i.uid, rec)
	}
	if again {
		g.inspect(ctx, i.uid, rec, inspectRequest{})
	}
	g.startQueued(ctx)
}

// applyInspection brings the record, the cache and the events up to an inspection.
func (g *Generator) applyInspection(rec *record, i inspection) {
	seen := statesOf(&i.pod)
	events := diff(i.uid, rec.old, seen)
	if len(events) == 0 && rec.failed {
		events = []Event{{UID: i.uid, Type: PodSync}}
	}
	rec.old, rec.failed = seen, false
	listed := rec.listAt.After(i.at)
	if !listed {
		rec.current = seen
	}
	i.pod.UID = i.uid
	g.keepAddresses(&i.pod)
	g.cfg.Cache.Set(i.pod, i.at)
	if listed && rec.current.equal(seen) {
		g.cfg.Cache.SetObserved(i.uid, rec.listAt) // a list has shown the same since
	}
	g.deliver(events)
	if !rec.eventAt.IsZero() {
		g.cfg.Observer.Lag(g.cfg.Now().Sub(rec.eventAt))
		rec.eventAt = time.Time{}
	}
}

// keepAddresses sets the addresses that a pod whose sandbox has ended had: its status
// goes on naming them.
func (g *Generator) keepAddresses(p *status.ObservedPod) {
	if len(p.IPs) > 0 {
		return
	}
	for i := range p.Sandboxes {
		if p.Sandboxes[i].Ready {
			return
		}
	}
	before, _ := g.cfg.Cache.Get(p.UID)
	p.IPs = before.IPs
}

// othersTurn is which turn is for a pod without a caller that waits, while there are
// pods with one.
const othersTurn = 4

// queue are the pods whose inspection waits for a slot: first those that a
// caller asked about, and of these and the others the first that came. A pod may be in it
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
		*q = queue{} // releases the memory of a burst
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

// startQueued begins inspections as long as there are slots and pods that wait.
func (g *Generator) startQueued(ctx context.Context) {
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
		g.startInspection(ctx, uid, rec)
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
