package compile

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// mostChildren is how many children run at once. Each has a different owner.
	mostChildren = 2
	// A child makes room if its owner has used at least muchMore times as much
	// processor time as the owner that waits, plus grace.
	grace    = 2 * time.Second
	muchMore = 3
	// lookAgain is how often running children are compared with waiting owners.
	lookAgain = 250 * time.Millisecond
	// halfForgotten is how long an owner must have no ticket until half of the
	// processor time that it has used is forgotten.
	halfForgotten = 10 * time.Minute
)

// queue assigns places to compile, at most one to each owner. The owner whose
// children have used the least processor time comes first. The children of the
// operator, tenant "", are not counted. If all places are taken, the child whose
// owner has used the most makes room for an owner that has used much less. Its
// module is then compiled from the start.
//
// Among the running modules that made room before, the module that has run the longest is
// protected: it does not make room again if the child of another tenant can. So at least
// one of these modules is always compiled to its end. The operator's children never make
// room.
//
// The zero value is ready for use.
type queue struct {
	// places and grace replace mostChildren and the constant grace if they are not 0.
	places int
	grace  time.Duration

	mu sync.Mutex
	// running are the tickets with a place.
	running []*ticket
	// waitingOwners are the tenants with waiting tickets. Those that have used the
	// same processor time are in the order of their turns.
	waitingOwners []string
	waiting       map[string][]*ticket
	taken         map[string]*taken
	// timer is set while a ticket waits for a place that another ticket has.
	timer *time.Timer
}

// taken is the processor time that an owner's finished children have used.
type taken struct {
	cpu time.Duration
	// left is when the owner's last ticket left the queue.
	left time.Time
}

// ticket is a place in the queue, and later a place to compile.
type ticket struct {
	tenant string
	digest Digest
	// again reports whether the module made room before.
	again bool
	// turn is closed when it is this ticket's turn.
	turn chan struct{}

	// ran returns the processor time of the child. end kills it. Both are nil while
	// no child runs.
	ran func() time.Duration
	end func()
	// ending is set when end is called.
	ending bool
}

// join adds a ticket after the tenant's other tickets, or, with again set, before
// them. The caller must return the ticket with leave, whether or not its turn has
// come.
func (q *queue) join(tenant string, digest Digest, again bool) *ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &ticket{tenant: tenant, digest: digest, again: again, turn: make(chan struct{})}
	if q.waiting == nil {
		q.waiting, q.taken = map[string][]*ticket{}, map[string]*taken{}
	}
	if q.taken[tenant] == nil {
		q.taken[tenant] = &taken{}
	}
	if !q.present(tenant) {
		one := q.taken[tenant]
		one.cpu >>= min(62, uint(time.Since(one.left)/halfForgotten))
	}
	if len(q.waiting[tenant]) == 0 {
		q.waitingOwners = append(q.waitingOwners, tenant)
	}
	at := len(q.waiting[tenant])
	if again {
		at = 0
	}
	q.waiting[tenant] = slices.Insert(q.waiting[tenant], at, t)
	q.next()
	return t
}

// leave removes a ticket from the queue, and frees its place if it has one.
func (q *queue) leave(t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.running, t); i >= 0 {
		q.running = slices.Delete(q.running, i, i+1)
	} else if i := slices.Index(q.waiting[t.tenant], t); i >= 0 {
		q.take(t.tenant, i)
	}
	if !q.present(t.tenant) {
		q.taken[t.tenant].left = time.Now()
	}
	q.next()
}

// started records the child of a ticket that has a place.
func (q *queue) started(t *ticket, ran func() time.Duration, end func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.ran, t.end, t.ending = ran, end, false
	q.next()
}

// ended records that a ticket's child has ended, and the processor time that it
// used.
func (q *queue) ended(t *ticket, cpu time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.ran, t.end = nil, nil
	if t.tenant != "" {
		q.taken[t.tenant].cpu += cpu
	}
}

// next assigns free places to the tickets whose turn it is, and makes room if there
// are not enough.
func (q *queue) next() {
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
	slices.SortStableFunc(q.waitingOwners, func(a, b string) int {
		return cmp.Or(cmp.Compare(q.taken[a].cpu, q.taken[b].cpu), cmp.Compare(min(len(a), 1), min(len(b), 1)))
	})
	free := orDefault(q.places, mostChildren) - len(q.running)
	var wanting []string
	for _, tenant := range slices.Clone(q.waitingOwners) {
		i := q.eligible(tenant)
		switch {
		case i < 0:
		case free > 0:
			free--
			q.give(tenant, i)
		default:
			wanting = append(wanting, tenant)
		}
	}
	if len(wanting) > 0 {
		q.displace(wanting)
		q.timer = time.AfterFunc(lookAgain, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.next()
		})
	}
}

// present reports whether an owner has a ticket.
func (q *queue) present(tenant string) bool {
	return len(q.waiting[tenant]) > 0 || slices.ContainsFunc(q.running, func(t *ticket) bool { return t.tenant == tenant })
}

// eligible returns the index of a tenant's ticket that may have a place, -1 if none
// may. Each owner has at most one child, and a module is not compiled twice at
// once.
func (q *queue) eligible(tenant string) int {
	if slices.ContainsFunc(q.running, func(t *ticket) bool { return t.tenant == tenant }) {
		return -1
	}
	return slices.IndexFunc(q.waiting[tenant], func(t *ticket) bool {
		return !slices.ContainsFunc(q.running, func(other *ticket) bool { return other.digest == t.digest })
	})
}

// give assigns a place to ticket i of a tenant, and moves the tenant to the end of
// the waiting owners.
func (q *queue) give(tenant string, i int) {
	t := q.take(tenant, i)
	if i := slices.Index(q.waitingOwners, tenant); i >= 0 {
		q.waitingOwners = append(slices.Delete(q.waitingOwners, i, i+1), tenant)
	}
	q.running = append(q.running, t)
	close(t.turn)
}

// displace kills children to make room for waiting owners, one for each owner.
// wanting is in the order of turns. Children that are already ending count as room
// for the first of them.
func (q *queue) displace(wanting []string) {
	ending, tenants := 0, 0
	var safe *ticket // the module that makes no room again
	for _, t := range q.running {
		if t.ending {
			ending++
		}
		if t.again && !t.ending && (safe == nil || t.soFar() > safe.soFar()) {
			safe = t
		}
		if t.tenant != "" {
			tenants++
		}
	}
	if tenants < 2 {
		safe = nil
	}
	for _, tenant := range wanting[min(ending, len(wanting)):] {
		var dearest *ticket
		most := orDefault(q.grace, grace) + muchMore*q.taken[tenant].cpu
		for _, t := range q.running {
			if t == safe || t.ending || t.tenant == "" {
				continue
			}
			if all := q.taken[t.tenant].cpu + t.soFar(); all >= most {
				dearest, most = t, all
			}
		}
		if dearest == nil || dearest.end == nil {
			return // the child is not started yet, or has ended
		}
		dearest.ending = true
		dearest.end()
	}
}

// soFar returns the processor time of the ticket's child.
func (t *ticket) soFar() time.Duration {
	if t.ran == nil {
		return 0
	}
	return t.ran()
}

// take removes and returns a waiting ticket.
func (q *queue) take(tenant string, i int) *ticket {
	t := q.waiting[tenant][i]
	q.waiting[tenant] = slices.Delete(q.waiting[tenant], i, i+1)
	if len(q.waiting[tenant]) == 0 {
		delete(q.waiting, tenant)
		q.waitingOwners = slices.DeleteFunc(q.waitingOwners, func(other string) bool { return other == tenant })
	}
	return t
}

// hour is the time in which a tenant's budget is refilled.
const hour = time.Hour

// budgets bound the processor time of compilations for each tenant. A compilation
// is not stopped when it exceeds the budget; later ones wait until the excess is
// made up. They are safe for concurrent use.
type budgets struct {
	perHour map[string]time.Duration
	now     func() time.Time

	mu sync.Mutex
	of map[string]*budget
}

// budget is the budget of one tenant: what was left at a time, which may be below
// 0.
type budget struct {
	left time.Duration
	at   time.Time
}

// Spent is the error if a tenant has used up its budget and must wait until another
// of its modules is compiled.
type Spent struct {
	Tenant string
	// PerHour is the processor time that the tenant may use in an hour.
	PerHour time.Duration
}

// Error names the budget but not the time to wait, because a reason is reported
// again whenever its text changes.
func (e *Spent) Error() string {
	return fmt.Sprintf("tenant %q has spent the %s of a processor's time that compiling its plugins may take in an hour; it is tried again by itself", e.Tenant, e.PerHour)
}

// check returns a *Spent if no module of the tenant may be compiled now.
func (b *budgets) check(tenant string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.fill(tenant); one != nil && one.left <= 0 {
		return &Spent{tenant, b.perHour[tenant]}
	}
	return nil
}

// spend subtracts the processor time of a compilation.
func (b *budgets) spend(tenant string, cpu time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.fill(tenant); one != nil {
		one.left -= cpu
	}
}

// fill refills and returns a tenant's budget, nil if the tenant has no limit. A new
// budget is full. A clock that moves back adds nothing.
func (b *budgets) fill(tenant string) *budget {
	most := b.perHour[tenant]
	if most <= 0 {
		return nil
	}
	now, one := b.now(), b.of[tenant]
	if one == nil {
		if b.of == nil {
			b.of = map[string]*budget{}
		}
		one = &budget{most, now}
		b.of[tenant] = one
	}
	if passed := now.Sub(one.at); passed > 0 {
		one.left = min(most, one.left+time.Duration(float64(most)*passed.Seconds()/hour.Seconds()))
	}
	one.at = now
	return one
}
