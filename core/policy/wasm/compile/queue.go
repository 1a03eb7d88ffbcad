package compile

import (
	"slices"
	"sync"
)

// queue gives one turn at a time, round robin over tenants, and to the tickets
// of a tenant in the order they came. The operator, tenant "", comes first in a
// round.
type queue struct {
	mu sync.Mutex
	// now has the turn, or is nil.
	now *ticket
	// last is the tenant that had the turn before.
	last string
	// round are the tenants that wait, in the order of their turns.
	round   []string
	waiting map[string][]*ticket
}

// ticket is a place in the queue.
type ticket struct {
	tenant string
	// turn is closed when it is this ticket's.
	turn chan struct{}
}

// join takes a place at the end of a tenant's tickets. It must be given back
// with leave, whether its turn has come or not.
func (q *queue) join(tenant string) *ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &ticket{tenant: tenant, turn: make(chan struct{})}
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
	if q.now == t {
		q.now = nil
	} else if i := slices.Index(q.waiting[t.tenant], t); i >= 0 {
		q.take(t.tenant, i)
	}
	q.next()
}

// next gives the turn, if nobody has it and somebody waits.
func (q *queue) next() {
	if q.now != nil || len(q.round) == 0 {
		return
	}
	tenant := q.round[0]
	q.now, q.last = q.take(tenant, 0), tenant
	if i := slices.Index(q.round, tenant); i >= 0 {
		q.round = append(slices.Delete(q.round, i, i+1), tenant)
	}
	close(q.now.turn)
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
