package compile

import (
	"fmt"
	"sync"
	"time"
)

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
