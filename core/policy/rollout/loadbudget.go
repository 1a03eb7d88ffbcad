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

// What loading costs in fuel beside that of plugins, at the same 0.5 ns a unit.
const (

	// textByteFuel is what a byte takes of a test's pod, each time it is decoded.
	textByteFuel = 2000
	// moduleByteFuel is the least that a byte takes of a module that is verified and
	// metered, or whose code is loaded. Where that takes more, what it takes counts.
	moduleByteFuel = 50
	// nanosecondFuel is what a nanosecond of the processor takes.
	nanosecondFuel = 2

	// lateTime is how long loading may wait for its budget until that is shown.
	lateTime = 3 * time.Second
	// notYet begins why a load waits.
	notYet = "not taken in yet: "
)

// loadBudget is what loading the policies of a tenant may take. It is as much as
// decisions about its pods may take, and another budget: who writes new policies for
// ever has its loading wait, and its pods are judged nevertheless. Nothing is cut off:
// before each reading, plugin and test loading waits until what was taken too much has
// come in again. It belongs to the reloader, but for show. A nil one bounds nothing.
type loadBudget struct {
	from   *sched.Budgets
	tenant string
	now    func() time.Time
	// at is the policy that is next.
	at *sched.CurrentPolicy
	// late is called once for a load that waits for long.
	late func(reason error)
	// orders are taken while a load waits.
	orders <-chan command
	take   func(x command)
	// urgent says that the reloader has something to do that must not wait; listed is
	// true where a listing would be due.
	urgent func(listed bool) bool

	// since is when the load under way began to wait, zero where it did not.
	since time.Time
	shown atomic.Pointer[delay]
}

// delay is why a load waits.
type delay struct {
	reason error
	since  time.Time
}

// budget is that of the owner's loading, from those of all tenants.
func (r *reloader) budget(of *sched.Budgets) *loadBudget {
	return &loadBudget{
		from: of, tenant: r.standing.tenant, now: r.cfg.Now, at: &r.loader.at, late: r.late,
		orders: r.commands, take: r.take, urgent: r.urgent,
	}
}

// errStale is that a load is given up while it waited, to be begun anew.
var errStale = errors.New("the files have changed while loading them waited, or something else could not wait")

// afford waits for the next step with what was read. ok is false where there is to
// be none.
func (l *Loader) afford(ctx context.Context, r *bundle.Bundle) (ok bool) {
	if !l.stale && !l.free {
		_, ok = l.Options.loads.afford(ctx, func() bool { return !bundle.Unchanged(r.Dir, r.Stamps) })
		l.stale = !ok
	}
	return !l.stale && ctx.Err() == nil
}

// afford waits until there is something in the budget, ctx ends, something is urgent
// or there is no more use in it, which it asks from time to time. It says for how
// long it waited, and ok is false where the step is not to be taken.
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
		case <-time.After(min(wait, time.Second)): // more may come in from now on
		case x := <-b.orders:
			b.take(x)
		case <-ctx.Done():
		}
	}
}

// pay takes what a step of loading took.
func (b *loadBudget) pay(fuel int64) {
	if b != nil {
		b.from.Spend(b.tenant, fuel, b.now())
	}
}

// delayed shows that loading waits, once that is long.
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

// over ends that a load waits.
func (b *loadBudget) over() {
	if b != nil {
		b.since = time.Time{}
		b.shown.Store(nil)
	}
}

// waits is why a load waits, nil where none does for long.
func (b *loadBudget) waits() error {
	if b == nil {
		return nil
	}
	if d := b.shown.Load(); d != nil {
		return d.reason
	}
	return nil
}

// show shows why what the directory holds is not in force yet, beside why something
// it held before is not.
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
