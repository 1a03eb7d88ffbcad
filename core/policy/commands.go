package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

// Reload reads an owner's directory now (the operator's for an empty tenant) and waits
// for the result. The error says why the content is not in force. If loading waits for
// its budget for long, the error says so, and loading continues. The breakers of the
// policies in force are closed.
func (p *Engine) Reload(ctx context.Context, tenant string) (api.PolicySet, error) {
	defer p.closeBreakers(tenant, false)
	return p.order(ctx, tenant, (*rollout.Owner).Reload)
}

// Retry does what Reload does. It also tries content again that was refused before, and a
// set that failed and stays in force. Everything that is held or denied is judged again.
func (p *Engine) Retry(ctx context.Context, tenant string) (api.PolicySet, error) {
	defer p.closeBreakers(tenant, true)
	return p.order(ctx, tenant, (*rollout.Owner).Retry)
}

// Rollback activates the set that was in force before. The content of the directory is
// refused until it changes, or until Retry.
func (p *Engine) Rollback(ctx context.Context, tenant string) (api.PolicySet, error) {
	return p.order(ctx, tenant, (*rollout.Owner).Rollback)
}

// closeBreakers closes the breakers of an owner's plugins in force. If a breaker had
// counted a failure, or if always is true, everything that waits or is denied is judged
// again.
func (p *Engine) closeBreakers(tenant string, always bool) {
	for _, o := range p.owners {
		if o.Tenant != tenant {
			continue
		}
		s, _ := o.Use()
		hooks := map[string]bool{}
		if had := s.CloseBreakers(); had || always && s != nil {
			s.AddHooks(hooks)
			p.signal(o, hooks)
		}
		s.Release()
	}
}

// order sends a command to an owner, waits for it, and returns the state of the set.
func (p *Engine) order(ctx context.Context, tenant string, what func(*rollout.Owner, context.Context) (api.PolicySet, error)) (api.PolicySet, error) {
	for _, o := range p.owners {
		if o.Tenant != tenant {
			continue
		}
		return what(o, ctx)
	}
	return api.PolicySet{}, lacksPolicies(tenant)
}

// lacksPolicies returns the error for an owner without a policy directory.
func lacksPolicies(tenant string) error {
	if tenant == "" {
		return errors.New("the operator has no policies: policy.dir in agent.toml names no directory")
	}
	return fmt.Errorf("tenant %q has no policies: its table in agent.toml is missing, or has no policy_dir", tenant)
}

// errNoReviews is the error of a confirmation if running pods are not judged.
var errNoReviews = errors.New("there are no reviews of running pods")

// makeOwners creates the owners that have a policy directory, the operator first.
func (p *Engine) makeOwners() {
	if p.cfg.Dir != "" {
		p.owners = append(p.owners, p.newOwner("", p.cfg.Dir, p.cfg.Trust, 0))
	}
	for i := range p.cfg.Tenants {
		if t := &p.cfg.Tenants[i]; t.Dir != "" {
			p.owners = append(p.owners, p.newOwner(t.Name, t.Dir, t.Trust, t.PolicyMemory))
		}
	}
}

func (p *Engine) newOwner(tenant, dir string, trust bundle.Trust, memory int64) *rollout.Owner {
	return rollout.New(p.cfg.rollout(tenant, dir, trust, memory), p.budgets.Loading, p.queue.Wake, p.signal)
}

// ready reports whether the agent has tried to load each set that could match the pods of a
// tenant. Then they can be judged or, if a set could not be loaded, held.
func (p *Engine) ready(tenant string) bool {
	for _, o := range p.owners {
		if o.Judges(tenant) && !o.WasTried() {
			return false
		}
	}
	return true
}
