package policy

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// What loading takes in fuel beside that of plugins: the same 0.5 ns a unit.
const (
	// readByteFuel is what a byte takes that is read and hashed.
	readByteFuel = 4
	// textByteFuel is what a byte takes of a document or of a test's pod, each time
	// it is decoded.
	textByteFuel = 2000
	// moduleByteFuel is what a byte takes of a module that is verified, or whose code
	// is fetched.
	moduleByteFuel = 50

	// lateTime is how long loading may wait for its budget until that is shown.
	lateTime = 3 * time.Second
)

// loadBudget is what loading the policies of a tenant may take. It is as much as
// decisions about its pods may take, and another budget: who writes new policies for
// ever has its loading wait, and its pods are judged nevertheless. Nothing is cut off:
// before each reading, plugin and test loading waits until what was taken too much has
// come in again. It belongs to the reloader, but for show. A nil one bounds nothing.
type loadBudget struct {
	from   *budgets
	tenant string
	now    func() time.Time
	// at is the policy that is next.
	at *activity
	// late is told once of a load that waits for long.
	late func(reason error)

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
func (r *reloader) budget(of *budgets) *loadBudget {
	return &loadBudget{from: of, tenant: r.standing.tenant, now: r.cfg.Now, at: &r.loader.at, late: r.late}
}

// errStale is that a set has changed while its loading waited.
var errStale = errors.New("the files have changed while loading them waited")

// afford waits for the next step with what was read. ok is false where there is to
// be none.
func (l *loader) afford(ctx context.Context, r *reading) (ok bool) {
	if !l.stale {
		l.cfg.loads.afford(ctx, func() bool {
			l.stale = !unchanged(r.dir, r.stamps)
			return l.stale
		})
	}
	return !l.stale && ctx.Err() == nil
}

// late says that a load waits for long. Where no set is in force those who wait for
// a first one are told.
func (r *reloader) late(reason error) {
	r.cfg.Logger.Warn("loading policies waits", "directory", r.cfg.Dir, "why", reason)
	if r.standing.current() == nil {
		r.standing.refuse(reason, r.cfg.Now())
		r.tried()
	}
}

// afford waits until there is something in the budget, ctx ends, or there is no more
// use in it, which it asks from time to time, and says for how long it did.
func (b *loadBudget) afford(ctx context.Context, useless func() bool) (waited time.Duration) {
	if b == nil {
		return 0
	}
	begun := b.now()
	looked := begun
	for {
		now := b.now()
		wait := b.from.wait(b.tenant, now)
		if wait == 0 || ctx.Err() != nil {
			return now.Sub(begun)
		}
		if now.Sub(looked) >= listPeriod {
			if looked = now; useless() {
				return now.Sub(begun)
			}
		}
		b.delayed(now, wait)
		select {
		case <-time.After(min(wait, time.Second)): // more may come in from now on
		case <-ctx.Done():
		}
	}
}

// pay takes what a step of loading took.
func (b *loadBudget) pay(fuel int64) {
	if b != nil {
		b.from.spend(b.tenant, fuel, b.now())
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
	if name := b.at.current(); name != "" {
		next = fmt.Sprintf("; policy %q is next", name)
	}
	d := &delay{fmt.Errorf("not taken in yet: tenant %q has spent what its fuel_per_second lets loading policies take, which goes on when there is some again%s", b.tenant, next), b.since}
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

// show shows why what the directory holds is not in force yet.
func (b *loadBudget) show(s *pod.PolicySet) {
	if b == nil {
		return
	}
	if d := b.shown.Load(); d != nil {
		s.Refused, s.RefusedAt = d.reason.Error(), d.since
	}
}
