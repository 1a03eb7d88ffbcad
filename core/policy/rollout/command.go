package rollout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
)

// OrderTime is how long an order waits if loading waits for its budget, which may take
// hours.
const OrderTime = time.Minute

// command is a command of another goroutine to the reloader of an owner.
type command struct {
	// do is called at once, and a load that waits is given up for it. It may be nil.
	do func(ctx context.Context) error
	// look makes the reloader read the directory afterwards. Then the answer is the result
	// of that.
	look bool
	// gone is closed when the caller has stopped waiting.
	gone <-chan struct{}
	// done receives the answer; it is buffered.
	done chan error
}

// order sends a command to the owner's reloader and waits for it, for OrderTime if it
// waits for the budget of loading.
func (o *Owner) order(ctx context.Context, x command) (api.PolicySet, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	x.gone, x.done = ctx.Done(), make(chan error, 1)
	patience := time.NewTimer(OrderTime)
	defer patience.Stop()
	select {
	case o.reloader.commands <- x:
	case <-ctx.Done():
		return api.PolicySet{}, context.Cause(ctx)
	}
	for {
		select {
		case err := <-x.done:
			return o.active.show(), err
		case <-ctx.Done():
			return api.PolicySet{}, context.Cause(ctx)
		case <-patience.C:
			patience.Reset(time.Second)
			if err := o.reloader.cfg.loads.waits(); err != nil {
				set := o.active.show()
				o.reloader.cfg.loads.show(&set)
				return set, err
			}
		}
	}
}

// errNoEarlier is the error of a rollback without an earlier set.
var errNoEarlier = errors.New("no earlier set is kept that could come into force")

// goBack activates the set that was in force before the current one.
func (r *reloader) goBack(ctx context.Context) error {
	running := r.standing.current()
	if running == nil {
		return errors.New("no set is in force, so there is none to go back from")
	}
	before, err := r.kept.last(ctx, &r.loader, running, running.Eval.Digest)
	if before == nil {
		return errors.Join(errNoEarlier, err)
	}
	now := r.cfg.Now()
	reason := fmt.Errorf("rolled back by the operator at %s; change the directory, or take it in again with wardlet policy retry", now.UTC().Format(time.RFC3339))
	r.kept.record.Revision = before.revision // only the operator goes back in revisions
	got := bundle.Read(r.cfg.Options)
	r.cfg.loads.pay(got.Took())
	r.kept.back(got.Content(r.cfg.Version), reason, running.Eval.Digest, before.Eval.Digest, now)
	r.activate(before, reason, false)
	r.cfg.Logger.Warn("policies are rolled back", "directory", r.cfg.Dir, "from", running.Eval.Digest, "to", before.Eval.Digest, "generation", before.generation)
	return nil
}
