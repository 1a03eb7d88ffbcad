package policy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// order is what somebody has the reloader of an owner do. done gets one value,
// for which it has room.
type order struct {
	do   func(ctx context.Context) error
	done chan error
}

// Reload has an owner's directory read now (the operator's for an empty tenant)
// and waits for what comes of it. The error says why the content is not in force.
func (p *Plane) Reload(ctx context.Context, tenant string) (pod.PolicySet, error) {
	return p.order(ctx, tenant, func(r *reloader) func(context.Context) error { return r.readNow })
}

// Retry is Reload, and also tries again what was refused before.
func (p *Plane) Retry(ctx context.Context, tenant string) (pod.PolicySet, error) {
	return p.order(ctx, tenant, func(r *reloader) func(context.Context) error {
		return func(ctx context.Context) error {
			r.kept.retry()
			r.loader.anew = true
			defer func() { r.loader.anew = false }()
			return r.readNow(ctx)
		}
	})
}

// Rollback brings the set into force that was in force before the one that is.
// What the directory holds is refused until it changes, or until Retry.
func (p *Plane) Rollback(ctx context.Context, tenant string) (pod.PolicySet, error) {
	return p.order(ctx, tenant, func(r *reloader) func(context.Context) error { return r.goBack })
}

// order has the reloader of an owner do something, waits for it, and gives the
// state of the set then.
func (p *Plane) order(ctx context.Context, tenant string, what func(*reloader) func(context.Context) error) (pod.PolicySet, error) {
	for _, o := range p.owners {
		if o.tenant != tenant {
			continue
		}
		x := order{what(o.reloader), make(chan error, 1)}
		select {
		case o.reloader.orders <- x:
		case <-ctx.Done():
			return pod.PolicySet{}, context.Cause(ctx)
		}
		select {
		case err := <-x.done:
			return o.standing.show(), err
		case <-ctx.Done():
			return pod.PolicySet{}, context.Cause(ctx)
		}
	}
	if tenant == "" {
		return pod.PolicySet{}, errors.New("the operator has no policies: policy.dir in agent.toml names no directory")
	}
	return pod.PolicySet{}, fmt.Errorf("tenant %q has no policies: its table in agent.toml is missing, or has no policy_dir", tenant)
}

// readNow reads the directory until it stands still, and acts on it.
func (r *reloader) readNow(ctx context.Context) error {
	r.acted, r.restless = false, time.Time{}
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-wait.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		delay := r.look(ctx)
		if delay == listPeriod {
			return r.standing.reason()
		}
		if !r.restless.IsZero() && r.cfg.Now().Sub(r.restless) >= restlessTime {
			return fmt.Errorf("the files in %s keep changing; they are read once they have stood still for %s", r.cfg.Dir, settleTime)
		}
		wait.Reset(delay)
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
	before, err := r.kept.last(ctx, &r.loader, running, running.digest)
	if before == nil {
		return errors.Join(errNoEarlier, err)
	}
	now := r.cfg.Now()
	reason := fmt.Errorf("rolled back by the operator at %s; change the directory, or take it in again with wardlet policy retry", now.UTC().Format(time.RFC3339))
	r.kept.record.Revision = before.revision // only the operator goes back in revisions
	r.kept.back(read(r.cfg).content(r.cfg), reason, running.digest, before.digest, now)
	r.put(before, reason)
	r.cfg.Logger.Warn("policies are rolled back", "directory", r.cfg.Dir, "from", running.digest, "to", before.digest, "generation", before.generation)
	return nil
}
