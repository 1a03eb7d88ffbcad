package policy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
)

// orderTime is how long an order waits for the budget of loading, which may take
// hours.
const orderTime = time.Minute

// order is what somebody has the reloader of an owner do.
type order struct {
	// do is done at once, and ends the wait of a load; it may be nil.
	do func(ctx context.Context) error
	// look has the directory read then, and what comes of that is the answer.
	look bool
	// gone is closed once nobody waits for the answer.
	gone <-chan struct{}
	// done gets the answer, for which it has room.
	done chan error
}

// Reload has an owner's directory read now (the operator's for an empty tenant)
// and waits for what comes of it. The error says why the content is not in force.
// Where loading waits for its budget for long, that is what the error says, and
// loading goes on. The breakers of the policies in force are closed.
func (p *Plane) Reload(ctx context.Context, tenant string) (api.PolicySet, error) {
	defer p.closeBreakers(tenant, false)
	return p.order(ctx, tenant, func(*reloader) order { return order{look: true} })
}

// Retry is Reload, and also tries again what was refused before, or has failed and
// stays in force, and judges again everything that is held or denied.
func (p *Plane) Retry(ctx context.Context, tenant string) (api.PolicySet, error) {
	defer p.closeBreakers(tenant, true)
	return p.order(ctx, tenant, func(r *reloader) order {
		return order{look: true, do: func(context.Context) error {
			r.kept.retry()
			r.standing.current().retry(r.cfg.Now())
			r.loader.anew = true
			return nil
		}}
	})
}

// closeBreakers closes the breakers of an owner's plugins in force. If one had failed,
// or always, everything is asked about again that waits or is denied.
func (p *Plane) closeBreakers(tenant string, always bool) {
	for _, o := range p.owners {
		if o.tenant != tenant {
			continue
		}
		s, _ := o.standing.use()
		hooks := map[string]bool{}
		if had := s.closeBreakers(); had || always && s != nil {
			s.addHooks(hooks)
			p.signal(o, hooks)
		}
		s.release()
	}
}

// Rollback brings the set into force that was in force before the one that is.
// What the directory holds is refused until it changes, or until Retry.
func (p *Plane) Rollback(ctx context.Context, tenant string) (api.PolicySet, error) {
	return p.order(ctx, tenant, func(r *reloader) order { return order{do: r.goBack} })
}

// order has the reloader of an owner do something, waits for it, and gives the
// state of the set then.
func (p *Plane) order(ctx context.Context, tenant string, what func(*reloader) order) (api.PolicySet, error) {
	for _, o := range p.owners {
		if o.tenant != tenant {
			continue
		}
		return o.order(ctx, what(o.reloader))
	}
	return api.PolicySet{}, lacksPolicies(tenant)
}

// lacksPolicies is that an owner has no directory of policies.
func lacksPolicies(tenant string) error {
	if tenant == "" {
		return errors.New("the operator has no policies: policy.dir in agent.toml names no directory")
	}
	return fmt.Errorf("tenant %q has no policies: its table in agent.toml is missing, or has no policy_dir", tenant)
}

// errNoReviews is that nothing runs that could be evicted.
var errNoReviews = errors.New("nothing judges pods that run")

// order has the owner's reloader do something and waits for it, but only so long for
// the budget of loading.
func (o *owner) order(ctx context.Context, x order) (api.PolicySet, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	x.gone, x.done = ctx.Done(), make(chan error, 1)
	patience := time.NewTimer(orderTime)
	defer patience.Stop()
	select {
	case o.reloader.orders <- x:
	case <-ctx.Done():
		return api.PolicySet{}, context.Cause(ctx)
	}
	for {
		select {
		case err := <-x.done:
			return o.standing.show(), err
		case <-ctx.Done():
			return api.PolicySet{}, context.Cause(ctx)
		case <-patience.C:
			patience.Reset(time.Second)
			if err := o.reloader.cfg.loads.waits(); err != nil {
				set := o.standing.show()
				o.reloader.cfg.loads.show(&set)
				return set, err
			}
		}
	}
}

// errNoEarlier is that there is no set to go back to.
var errNoEarlier = errors.New("no earlier set is kept that could come into force")

// goBack is Rollback.
func (r *reloader) goBack(ctx context.Context) error {
	running := r.standing.current()
	if running == nil {
		return errors.New("no set is in force, so there is none to go back from")
	}
	before, err := r.kept.last(ctx, &r.loader, running, running.set.Digest)
	if before == nil {
		return errors.Join(errNoEarlier, err)
	}
	now := r.cfg.Now()
	reason := fmt.Errorf("rolled back by the operator at %s; change the directory, or take it in again with wardlet policy retry", now.UTC().Format(time.RFC3339))
	r.kept.record.Revision = before.revision // only the operator goes back in revisions
	got := bundle.Read(r.cfg.read())
	r.cfg.loads.pay(got.Took())
	r.kept.back(got.Content(r.cfg.Version), reason, running.set.Digest, before.set.Digest, now)
	r.put(before, reason, false)
	r.cfg.Logger.Warn("policies are rolled back", "directory", r.cfg.Dir, "from", running.set.Digest, "to", before.set.Digest, "generation", before.generation)
	return nil
}
