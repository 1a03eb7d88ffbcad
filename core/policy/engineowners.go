package policy

import (
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

// owners are those that have a directory, the operator first.
func (p *Plane) makeOwners() {
	if p.cfg.Dir != "" {
		p.owners = append(p.owners, p.newOwner("", p.cfg.Dir, p.cfg.Trust, 0))
	}
	for i := range p.cfg.Tenants {
		if t := &p.cfg.Tenants[i]; t.Dir != "" {
			p.owners = append(p.owners, p.newOwner(t.Name, t.Dir, t.Trust, t.PolicyMemory))
		}
	}
}

func (p *Plane) newOwner(tenant, dir string, trust bundle.Trust, memory int64) *rollout.Owner {
	return rollout.New(p.cfg.rollout(tenant, dir, trust, memory), p.budgets.Loading, p.queue.Wake, p.signal)
}

// ready says that the pods of a tenant can be judged, or held because they
// cannot: each set that could match was tried.
func (p *Plane) ready(tenant string) bool {
	for _, o := range p.owners {
		if o.Judges(tenant) && !o.WasTried() {
			return false
		}
	}
	return true
}
