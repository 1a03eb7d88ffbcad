package sched

import (
	"fmt"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// Burst is the longest time whose income a budget can hold.
const Burst = 10 * time.Second

// RecordByteFuel is the cost of a recorded byte in fuel, for the tenant of the pod: some
// half a microsecond of a processor. The work is far less; but the disk is shared, and
// flash wears out. 10 kB cost as much as a call of a plugin by default.
const RecordByteFuel = 1000

// Budgets limit the fuel for the decisions about the pods of each tenant and for their
// records, whether the policies are the tenant's or the operator's. A running decision is
// not interrupted. Later ones wait until overspent fuel is refilled. They are safe for
// concurrent use.
type Budgets struct {
	mu sync.Mutex
	of map[string]*Bucket
	// Loading has the budgets for loading policies, with the same rates.
	Loading *Budgets
}

// Bucket is a token bucket of fuel.
type Bucket struct {
	// perSecond is the income. left is the fuel that was left at the time at; it may be
	// negative.
	perSecond, left int64
	at              time.Time
	turns           budgetTurns
}

// NewBucket returns a full bucket.
func NewBucket(perSecond int64, now time.Time) *Bucket {
	return &Bucket{perSecond: perSecond, left: MostOf(perSecond), at: now}
}

// NewBudgets returns a full budget for each tenant with a positive rate. rates are in units
// of fuel per second.
func NewBudgets(rates map[string]int64, now time.Time) *Budgets {
	b := &Budgets{of: map[string]*Bucket{}, Loading: &Budgets{of: map[string]*Bucket{}}}
	for tenant, rate := range rates {
		if rate > 0 {
			b.of[tenant] = NewBucket(rate, now)
			b.Loading.of[tenant] = NewBucket(rate, now)
		}
	}
	return b
}

// Set changes the rates, in units of fuel per second; 0 or less is no limit. A tenant keeps
// what it has left, up to the new maximum. A tenant that had no budget gets a full one.
func (b *Budgets) Set(rates map[string]int64, now time.Time) {
	if b.Loading != nil {
		b.Loading.Set(rates, now)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, rate := range rates {
		one := b.of[name]
		switch {
		case rate <= 0:
			delete(b.of, name)
		case one == nil:
			b.of[name] = NewBucket(rate, now)
		default:
			one.fill(now)
			one.perSecond = rate
			one.left = min(one.left, MostOf(rate))
		}
	}
}

// MostOf returns the most fuel that a budget of this rate holds.
func MostOf(perSecond int64) int64 { return perSecond * int64(Burst/time.Second) }

// Limits reports whether a tenant has a budget.
func (b *Budgets) Limits(tenant string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[tenant] != nil
}

// Wait returns how long a new question of a tenant waits for its budget, 0 if it does not
// wait or the tenant has no budget. Questions about running pods use WaitReview.
func (b *Budgets) Wait(tenant string, now time.Time) time.Duration {
	return b.waitFor(tenant, now, (*budgetTurns).others)
}

// WaitReview returns how long a question about a running pod waits before it is asked
// again.
func (b *Budgets) WaitReview(tenant string, now time.Time) time.Duration {
	return b.waitFor(tenant, now, (*budgetTurns).review)
}

func (b *Budgets) waitFor(tenant string, now time.Time, turn func(t *budgetTurns, lacks time.Duration) time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.of[tenant]
	if one == nil {
		return 0
	}
	one.fill(now)
	return turn(&one.turns, one.deficit())
}

// deficit returns how long the bucket is empty, 0 if it is not.
func (b *Bucket) deficit() time.Duration {
	if b.left > 0 {
		return 0
	}
	return time.Duration(float64(1-b.left)/float64(b.perSecond)*float64(time.Second)).Round(time.Millisecond) + time.Millisecond
}

// Spend subtracts the cost of a decision or of its record.
func (b *Budgets) Spend(tenant string, fuel int64, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.of[tenant]; one != nil {
		one.fill(now)
		one.left -= fuel
	}
}

// Has reports whether the bucket is not empty.
func (b *Bucket) Has(now time.Time) bool {
	b.fill(now)
	return b.left > 0
}

// Spend subtracts fuel; the rest may become negative.
func (b *Bucket) Spend(fuel int64) { b.left -= fuel }

// LeftOf returns the fuel that was left when the budget of a tenant was last used. The
// tenant must have a budget.
func (b *Budgets) LeftOf(tenant string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of[tenant].left
}

// fill adds the income since the last time, up to the maximum. A clock that goes back
// adds nothing.
func (b *Bucket) fill(now time.Time) {
	passed := now.Sub(b.at)
	b.at = now
	if room := MostOf(b.perSecond) - b.left; passed > 0 {
		b.left += int64(min(passed.Seconds()*float64(b.perSecond), float64(room)))
	}
}

// Exhausted returns reason and message for a pod whose tenant has spent its budget. They
// do not contain the time: a message that differs each time would be a new event.
func Exhausted(tenant string) (reason, message string) {
	return api.ReasonBudgetExhausted, fmt.Sprintf("tenant %q has spent its fuel_per_second", tenant)
}

// turnPause is how long a question waits if there is fuel but it is not its turn.
const turnPause = 2 * time.Second

// budgetTurns divide the income of a spent budget between questions about running pods and
// other questions, in turn. Otherwise new pods, which are asked about again and again,
// would leave nothing for running ones, or the other way round.
type budgetTurns struct {
	// owed reports that the next turn belongs to a question about a running pod, which
	// waits. reviewed reports that the last question was about a running pod.
	owed, reviewed bool
}

// others returns how long a question about a new pod waits, if the budget is empty for
// that long.
func (t *budgetTurns) others(lacks time.Duration) time.Duration {
	switch {
	case lacks > 0:
		return lacks
	case t.owed:
		return turnPause
	}
	t.reviewed = false
	return 0
}

// review returns how long a question about a running pod waits before it is asked again.
func (t *budgetTurns) review(lacks time.Duration) time.Duration {
	switch {
	case lacks <= 0:
		t.owed, t.reviewed = false, true
		return 0
	case t.reviewed:
		return min(lacks, MaxPutOff) + turnPause
	}
	t.owed = true
	return min(lacks, MaxPutOff)
}

// MaxPutOff is the longest time after which a question of a tenant that has spent its
// budget is asked again: the budget may have changed by then.
const MaxPutOff = 10 * time.Second
