package policy

import (
	"fmt"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// budgetBurst is for how long a tenant may save up what it does not spend.
const budgetBurst = 10 * time.Second

// budgets are what the decisions about the pods of each tenant may take in fuel,
// whoever's policies they are, with their records. A decision under way is not cut off; what it took
// too much, later ones wait for. They are safe for concurrent use.
type budgets struct {
	mu sync.Mutex
	of map[string]*budget
	// loading are those for loading policies (loadBudget), of the same rates.
	loading *budgets
}

// budget is that of one tenant.
type budget struct {
	// perSecond is what comes in, left what there is, at a time; it may be below 0.
	perSecond, left int64
	at              time.Time
	turns           budgetTurns
}

// newBudget gives one that is full.
func newBudget(perSecond int64, now time.Time) *budget {
	return &budget{perSecond: perSecond, left: most(perSecond), at: now}
}

// newBudgets gives each tenant that has one its budget, full.
func newBudgets(tenants []Tenant, now time.Time) *budgets {
	b := &budgets{of: map[string]*budget{}, loading: &budgets{of: map[string]*budget{}}}
	for i := range tenants {
		if rate := tenants[i].FuelPerSecond; rate > 0 {
			b.of[tenants[i].Name] = newBudget(rate, now)
			b.loading.of[tenants[i].Name] = newBudget(rate, now)
		}
	}
	return b
}

// set has other rates count from now on. What a tenant has left it keeps, as far
// as there is room for it then; one that had no budget begins with a full one.
func (b *budgets) set(tenants map[string]TenantTerms, now time.Time) {
	if b.loading != nil {
		b.loading.set(tenants, now)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, t := range tenants {
		one := b.of[name]
		switch {
		case t.FuelPerSecond <= 0:
			delete(b.of, name)
		case one == nil:
			b.of[name] = newBudget(t.FuelPerSecond, now)
		default:
			one.fill(now)
			one.perSecond = t.FuelPerSecond
			one.left = min(one.left, most(t.FuelPerSecond))
		}
	}
}

// most is what a budget holds at most.
func most(perSecond int64) int64 { return perSecond * int64(budgetBurst/time.Second) }

// limits reports whether a tenant has a budget.
func (b *budgets) limits(tenant string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[tenant] != nil
}

// wait is how long until there is something in a tenant's budget, 0 where there
// is, or where it has none. It is not for questions about pods that run.
func (b *budgets) wait(tenant string, now time.Time) time.Duration {
	return b.waitFor(tenant, now, (*budgetTurns).others)
}

// waitReview is wait for a question about a pod that runs, which comes back after that.
func (b *budgets) waitReview(tenant string, now time.Time) time.Duration {
	return b.waitFor(tenant, now, (*budgetTurns).review)
}

func (b *budgets) waitFor(tenant string, now time.Time, turn func(t *budgetTurns, lacks time.Duration) time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.of[tenant]
	if one == nil {
		return 0
	}
	one.fill(now)
	return turn(&one.turns, one.lacks())
}

// lacks is how long until there is something in the budget, 0 where there is.
func (b *budget) lacks() time.Duration {
	if b.left > 0 {
		return 0
	}
	return time.Duration(float64(1-b.left)/float64(b.perSecond)*float64(time.Second)).Round(time.Millisecond) + time.Millisecond
}

// spend takes what a decision or its record took.
func (b *budgets) spend(tenant string, fuel int64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.of[tenant]; one != nil {
		one.fill(now)
		one.left -= fuel
	}
}

// fill adds what has come in, as far as there is room. A clock that goes back adds
// nothing.
func (b *budget) fill(now time.Time) {
	passed := now.Sub(b.at)
	b.at = now
	if room := most(b.perSecond) - b.left; passed > 0 {
		b.left += int64(min(passed.Seconds()*float64(b.perSecond), float64(room)))
	}
}

// broke is what is said of a pod whose tenant has spent its budget. For how long
// is not in it: what waits is shown with that, and what is said in other words each
// time would be news each time.
func broke(tenant string) (reason, message string) {
	return api.ReasonBudgetExhausted, fmt.Sprintf("tenant %q has spent its fuel_per_second", tenant)
}
