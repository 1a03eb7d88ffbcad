package compile

import (
	"slices"
	"sync"
	"time"
)

const (
	// mostChildren is how many children run at once, each for another owner.
	mostChildren = 3
	// grace is the processor time that a child has in any case when others wait for
	// its place. It is twice as much each time that the module was displaced.
	grace = 2 * time.Second
	// lookAgain is how often running children are compared with their grace.
	lookAgain = 250 * time.Millisecond
)

// queue assigns places to compile, one to each owner: round robin over tenants, and
// to the tickets of a tenant in the order they came. The operator, tenant "",
// comes first in a round. Where all places are taken, the child that has run the
// longest beyond its grace loses its place: it joins again and begins anew.
//
// The zero value is ready for use.
type queue struct {
	// places and grace replace mostChildren and the constant grace if they are not 0.
	places int
	grace  time.Duration

	mu sync.Mutex
	// running are the tickets with a place.
	running []*ticket
	// last is the tenant that was given a place last.
	last string
	// round are the tenants that wait, in the order of their turns.
	round   []string
	waiting map[string][]*ticket
	// timer is set while a ticket waits for a place that another has.
	timer *time.Timer
}

// ticket is a place in the queue.
type ticket struct {
	tenant string
	digest Digest
	// displaced is how often the module has lost its place.
	displaced int
	// turn is closed when it is this ticket's.
	turn chan struct{}

	// ran returns the processor time of the child, end ends it. They are nil before
	// the child has started; end is nil, too, once it was called.
	ran func() time.Duration
	end func()
}

// join takes a place at the end of a tenant's tickets. It must be given back
// with leave, whether its turn has come or not.
func (q *queue) join(tenant string, digest Digest, displaced int) *ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &ticket{tenant: tenant, digest: digest, displaced: displaced, turn: make(chan struct{})}
	if q.waiting == nil {
		q.waiting = map[string][]*ticket{}
	}
	if len(q.waiting[tenant]) == 0 {
		// Not twice in a row before others: then they would wait for ever.
		if tenant == "" && q.last != "" {
			q.round = slices.Insert(q.round, 0, tenant)
		} else {
			q.round = append(q.round, tenant)
		}
	}
	q.waiting[tenant] = append(q.waiting[tenant], t)
	q.next()
	return t
}

// leave gives a place back, and the turn if it has it.
func (q *queue) leave(t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.running, t); i >= 0 {
		q.running = slices.Delete(q.running, i, i+1)
	} else if i := slices.Index(q.waiting[t.tenant], t); i >= 0 {
		q.take(t.tenant, i)
	}
	q.next()
}

// started records the child of a ticket that has a place.
func (q *queue) started(t *ticket, ran func() time.Duration, end func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.ran, t.end = ran, end
}

// next assigns places to the tickets whose turn it is, and makes room where there is none.
func (q *queue) next() {
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
	free := orDefault(q.places, mostChildren) - len(q.running)
	wanting := 0
	for _, tenant := range slices.Clone(q.round) {
		i := q.eligible(tenant)
		switch {
		case i < 0:
		case free > 0:
			free--
			q.give(tenant, i)
		default:
			wanting++
		}
	}
	if wanting > 0 {
		q.displace(wanting)
		q.timer = time.AfterFunc(lookAgain, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.next()
		})
	}
}

// eligible is which of a tenant's tickets may have a place, -1 if none: each
// owner has one child, and one module is not compiled twice at once.
func (q *queue) eligible(tenant string) int {
	if slices.ContainsFunc(q.running, func(t *ticket) bool { return t.tenant == tenant }) {
		return -1
	}
	return slices.IndexFunc(q.waiting[tenant], func(t *ticket) bool {
		return !slices.ContainsFunc(q.running, func(other *ticket) bool { return other.digest == t.digest })
	})
}

// give assigns a place to the ticket i of a tenant, whose next turn comes last.
func (q *queue) give(tenant string, i int) {
	t := q.take(tenant, i)
	q.last = tenant
	if i := slices.Index(q.round, tenant); i >= 0 {
		q.round = append(slices.Delete(q.round, i, i+1), tenant)
	}
	q.running = append(q.running, t)
	close(t.turn)
}

// displace ends children beyond their grace, so many with those that end
// already, those that have run the longest first.
func (q *queue) displace(wanting int) {
	for _, t := range q.running {
		if t.ran != nil && t.end == nil {
			wanting--
		}
	}
	for ; wanting > 0; wanting-- {
		var longest *ticket
		most := time.Duration(0)
		for _, t := range q.running {
			if t.end == nil {
				continue
			}
			if ran := t.ran(); ran > most && ran >= orDefault(q.grace, grace)<<min(t.displaced, 16) {
				longest, most = t, ran
			}
		}
		if longest == nil {
			return
		}
		longest.end()
		longest.end = nil
	}
}

// take takes a ticket out of those that wait.
func (q *queue) take(tenant string, i int) *ticket {
	t := q.waiting[tenant][i]
	q.waiting[tenant] = slices.Delete(q.waiting[tenant], i, i+1)
	if len(q.waiting[tenant]) == 0 {
		delete(q.waiting, tenant)
		q.round = slices.DeleteFunc(q.round, func(other string) bool { return other == tenant })
	}
	return t
}
