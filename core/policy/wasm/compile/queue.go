package compile

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// mostChildren is how many children run at once, each for another owner.
	mostChildren = 2
	// grace and muchMore are when a child makes room: its owner has taken muchMore
	// times as much of a processor as the owner that waits, and grace.
	grace    = 2 * time.Second
	muchMore = 3
	// lookAgain is how often running children are compared with those that wait.
	lookAgain = 250 * time.Millisecond
	// halfForgotten is the time without a ticket after which half of what an owner
	// has taken no longer counts.
	halfForgotten = 10 * time.Minute
)

// queue assigns places to compile, one to each owner: the owner whose children
// have taken the least of a processor comes first. What the operator's take, tenant
// "", does not count. Where all places are taken, the child whose owner has taken the
// most makes room for an owner that has taken much less. Its module begins anew.
//
// Of the modules that made room before, the one that has run the longest makes no
// room again while another tenant's could, so that always one of them comes to its end.
// The operator's never do.
//
// The zero value is ready for use.
type queue struct {
	// places and grace replace mostChildren and the constant grace if they are not 0.
	places int
	grace  time.Duration

	mu sync.Mutex
	// running are the tickets with a place.
	running []*ticket
	// waitingOwners are the tenants with tickets that wait, in the order of their turns
	// if they have taken the same.
	waitingOwners []string
	waiting       map[string][]*ticket
	taken         map[string]*taken
	// timer is set while a ticket waits for a place that another has.
	timer *time.Timer
}

// taken is the processor time of an owner's children that have ended.
type taken struct {
	cpu time.Duration
	// left is when the owner's last ticket left the queue.
	left time.Time
}

// ticket is a place in the queue.
type ticket struct {
	tenant string
	digest Digest
	// again is set if the module made room before.
	again bool
	// turn is closed when it is this ticket's.
	turn chan struct{}

	// ran returns the processor time of the child, end ends it. They are nil while
	// no child runs.
	ran func() time.Duration
	end func()
	// ending is set when end was called.
	ending bool
}

// join adds a ticket at the end of a tenant's, or again at their head after its module
// made room. It must be given back with leave, whether its turn has come or not.
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

// leave releases a place, and the turn if it has it.
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

// ended records the end of a ticket's child and the processor time that it took.
func (q *queue) ended(t *ticket, cpu time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.ran, t.end = nil, nil
	if t.tenant != "" {
		q.taken[t.tenant].cpu += cpu
	}
}

// next assigns places to the tickets whose turn it is, and makes room where there is none.
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
	if i := slices.Index(q.waitingOwners, tenant); i >= 0 {
		q.waitingOwners = append(slices.Delete(q.waitingOwners, i, i+1), tenant)
	}
	q.running = append(q.running, t)
	close(t.turn)
}

// displace ends children that must make room for owners that wait, which are in the
// order of their turns. It ends one for each, less those that end already.
func (q *queue) displace(wanting []string) {
	ending, tenants := 0, 0
	var safe *ticket // its module makes no room again
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
			return // it is about to start, or has ended
		}
		dearest.ending = true
		dearest.end()
	}
}

// soFar is the processor time of the ticket's child.
func (t *ticket) soFar() time.Duration {
	if t.ran == nil {
		return 0
	}
	return t.ran()
}

// take takes a ticket out of those that wait.
func (q *queue) take(tenant string, i int) *ticket {
	t := q.waiting[tenant][i]
	q.waiting[tenant] = slices.Delete(q.waiting[tenant], i, i+1)
	if len(q.waiting[tenant]) == 0 {
		delete(q.waiting, tenant)
		q.waitingOwners = slices.DeleteFunc(q.waitingOwners, func(other string) bool { return other == tenant })
	}
	return t
}

// hour is the time in which a tenant's budget comes in.
const hour = time.Hour

// budgets are what compilations may take of a processor for each tenant. One under
// way is not cut off for it; what it took too much, later ones wait for. They are
// safe for concurrent use.
type budgets struct {
	perHour map[string]time.Duration
	now     func() time.Time

	mu sync.Mutex
	of map[string]*budget
}

// budget is that of one tenant: what is left at a time, which may be below 0.
type budget struct {
	left time.Duration
	at   time.Time
}

// Spent is that a tenant has to wait until it may have a module compiled.
type Spent struct {
	Tenant string
	// PerHour is what the tenant may take of a processor.
	PerHour time.Duration
}

// Error says what is spent, but no time: a reason is reported again only if its text
// changes.
func (e *Spent) Error() string {
	return fmt.Sprintf("tenant %q has spent the %s of a processor's time that compiling its plugins may take in an hour; it is tried again by itself", e.Tenant, e.PerHour)
}

// check returns a *Spent where a tenant may have nothing compiled now.
func (b *budgets) check(tenant string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.fill(tenant); one != nil && one.left <= 0 {
		return &Spent{tenant, b.perHour[tenant]}
	}
	return nil
}

// spend takes what a compilation took.
func (b *budgets) spend(tenant string, cpu time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.fill(tenant); one != nil {
		one.left -= cpu
	}
}

// fill returns a tenant's budget with what has come in, nil where it has none and
// may take any time. It begins full. A clock that goes back adds nothing.
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
