package policy

import (
	"sync"

	"github.com/wardlet/wardlet/core/policy/bundle"
)

// owner is who writes a set of policies: the operator, or a tenant. Each has a
// directory, transactions and a standing of its own.
type owner struct {
	// tenant is the tenant's name, empty for the operator.
	tenant   string
	dir      string
	standing *standing
	reloader *reloader
	// tried is closed after the first attempt to load the set.
	tried chan struct{}
}

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

func (p *Plane) newOwner(tenant, dir string, trust bundle.Trust, memory int64) *owner {
	o := &owner{tenant: tenant, dir: dir, standing: &standing{tenant: tenant, dir: dir}, tried: make(chan struct{})}
	cfg := p.cfg
	cfg.Dir, cfg.Trust, cfg.memory = dir, trust, memory
	tried := sync.OnceFunc(func() {
		close(o.tried)
		p.queue.Wake()
	})
	o.reloader = newReloader(&cfg, o.standing, tried, func(hooks map[string]bool) { p.signal(o, hooks) })
	o.reloader.loader.tenant, o.reloader.kept.tenant = tenant, tenant
	return o
}

// wasTried says that the first attempt to load the set is over.
func (o *owner) wasTried() bool {
	select {
	case <-o.tried:
		return true
	default:
		return false
	}
}

// judges says that the owner's policies judge the pods of a tenant: its own do,
// and the operator's.
func (o *owner) judges(tenant string) bool { return o.tenant == "" || o.tenant == tenant }

// ready says that the pods of a tenant can be judged, or held because they
// cannot: each set that could match was tried.
func (p *Plane) ready(tenant string) bool {
	for _, o := range p.owners {
		if o.judges(tenant) && !o.wasTried() {
			return false
		}
	}
	return true
}
