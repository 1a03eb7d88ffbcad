package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/sched"
)

// The cost of loading in fuel, beside the fuel of plugins, at the same 0.5 ns a unit.
const (

	// textByteFuel is the fuel for a byte of a test's pod, each time the pod is decoded.
	textByteFuel = 2000
	// moduleByteFuel is the least fuel for a byte of a module that is verified and metered,
	// or whose code is loaded. If the processor time costs more, that cost is charged.
	moduleByteFuel = 50
	// nanosecondFuel is the fuel for a nanosecond of processor time.
	nanosecondFuel = 2

	// lateTime is how long loading may wait for its budget before the wait is shown.
	lateTime = 3 * time.Second
	// notYet begins the reason why a load waits.
	notYet = "not taken in yet: "
)

// loadBudget bounds the cost of loading the policies of a tenant. It has the same rate as
// the budget for decisions about the tenant's pods, but is separate from it: if a tenant
// writes new policies all the time, loading waits, but its pods are still judged. Nothing
// is interrupted: before each reading, plugin and test, loading waits until overspent fuel
// is refilled. Except for show and waits, it belongs to the reloader. A nil loadBudget
// bounds nothing.
type loadBudget struct {
	from   *sched.Budgets
	tenant string
	now    func() time.Time
	// at is the policy that is next.
	at *sched.CurrentPolicy
	// late is called once for a load that waits for long.
	late func(reason error)
	// orders has the commands that are passed to take while a load waits.
	orders <-chan command
	take   func(x command)
	// urgent reports whether the reloader has something to do that must not wait. listed is
	// true if a listing would be due.
	urgent func(listed bool) bool

	// since is when the current load began to wait, zero if it has not waited.
	since time.Time
	shown atomic.Pointer[delay]
}

// delay is the reason why a load waits, and the time since when.
type delay struct {
	reason error
	since  time.Time
}

// budget returns the owner's budget for loading, from the budgets of all tenants.
func (r *reloader) budget(of *sched.Budgets) *loadBudget {
	return &loadBudget{
		from: of, tenant: r.standing.tenant, now: r.cfg.Now, at: &r.loader.at, late: r.late,
		orders: r.commands, take: r.take, urgent: r.urgent,
	}
}

// errStale is the error of a load that was given up while it waited. The load starts anew.
var errStale = errors.New("the files have changed while loading them waited, or something else could not wait")

// afford waits until the next step of loading a bundle may be taken. ok is false if it must
// not be taken.
func (l *Loader) afford(ctx context.Context, r *bundle.Bundle) (ok bool) {
	if !l.stale && !l.free {
		_, ok = l.Options.loads.afford(ctx, func() bool { return !bundle.Unchanged(r.Dir, r.Stamps) })
		l.stale = !ok
	}
	return !l.stale && ctx.Err() == nil
}

// afford waits until the budget is not empty, ctx ends, something is urgent, or useless
// returns true. It calls useless from time to time. waited is how long it waited. ok is
// false if the next step must not be taken.
func (b *loadBudget) afford(ctx context.Context, useless func() bool) (waited time.Duration, ok bool) {
	if b == nil {
		return 0, ctx.Err() == nil
	}
	begun := b.now()
	looked := begun
	for {
		now := b.now()
		wait := b.from.Wait(b.tenant, now)
		if wait == 0 || ctx.Err() != nil {
			return now.Sub(begun), ctx.Err() == nil
		}
		b.delayed(now, wait)
		listed := now.Sub(looked) >= ListPeriod
		if listed {
			looked = now
		}
		if b.urgent(listed) || listed && useless() {
			return now.Sub(begun), false
		}
		select {
		case <-time.After(min(wait, time.Second)): // the rate may have been raised by then
		case x := <-b.orders:
			b.take(x)
		case <-ctx.Done():
		}
	}
}

// pay charges the cost of a step of loading.
func (b *loadBudget) pay(fuel int64) {
	if b != nil {
		b.from.Spend(b.tenant, fuel, b.now())
	}
}

// delayed shows that loading waits, once it waits for long.
func (b *loadBudget) delayed(now time.Time, wait time.Duration) {
	if b.since.IsZero() {
		b.since = now
	}
	if now.Sub(b.since)+wait < lateTime || b.shown.Load() != nil {
		return
	}
	next := ""
	if name := b.at.Name(); name != "" {
		next = fmt.Sprintf("; policy %q is next", name)
	}
	d := &delay{fmt.Errorf(notYet+"tenant %q has spent what its fuel_per_second lets loading policies take, which goes on when there is some again%s", b.tenant, next), b.since}
	b.shown.Store(d)
	b.late(d.reason)
}

// over records that no load waits any more.
func (b *loadBudget) over() {
	if b != nil {
		b.since = time.Time{}
		b.shown.Store(nil)
	}
}

// waits returns why a load waits, nil if none waits for long.
func (b *loadBudget) waits() error {
	if b == nil {
		return nil
	}
	if d := b.shown.Load(); d != nil {
		return d.reason
	}
	return nil
}

// show adds to a set's state why the directory's content is not in force yet, after the
// reason why earlier content was refused.
func (b *loadBudget) show(s *api.PolicySet) {
	if b == nil {
		return
	}
	d := b.shown.Load()
	switch {
	case d == nil:
	case s.Refused == "" || strings.HasPrefix(s.Refused, notYet):
		s.Refused, s.RefusedAt = d.reason.Error(), d.since
	default:
		s.Refused += "; and: " + d.reason.Error()
	}
}
