package policy

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// Terms are what of a Config may change while a Plane runs. The fields mean what
// those of Config and Tenant of the same name do.
type Terms struct {
	MaxSuppress    time.Duration
	Exempt         []string
	DefaultVerdict api.Answer
	DenyAtOnce     bool
	// Tenants are those of the tenants by name. Names that the Plane does not know
	// mean nothing, and tenants without one keep what they have.
	Tenants map[string]TenantTerms
}

// TenantTerms are those of one tenant.
type TenantTerms struct {
	MaxSuppress   time.Duration
	FuelPerSecond int64
}

// Terms are those a configuration begins with.
func (c *Config) Terms() Terms {
	t := Terms{
		MaxSuppress: c.MaxSuppress, Exempt: c.Exempt, DenyAtOnce: c.DenyAtOnce,
		DefaultVerdict: cmp.Or(c.DefaultVerdict, api.Allow), Tenants: map[string]TenantTerms{},
	}
	for i := range c.Tenants {
		one := &c.Tenants[i]
		t.Tenants[one.Name] = TenantTerms{one.MaxSuppress, one.FuelPerSecond}
	}
	return t
}

// SetTerms has other terms count from the next decision on, all at once. What is
// held, denied or held back is asked about again. It may be called from any
// goroutine.
func (p *Plane) SetTerms(next Terms) {
	p.setting.Lock()
	defer p.setting.Unlock()
	before := p.terms.Load()
	next.DefaultVerdict = cmp.Or(next.DefaultVerdict, api.Allow)
	next.Exempt = slices.Clone(next.Exempt)
	tenants := maps.Clone(before.Tenants)
	for name, t := range next.Tenants {
		if _, known := tenants[name]; known {
			tenants[name] = t
		}
	}
	next.Tenants = tenants
	if reflect.DeepEqual(*before, next) {
		return
	}
	p.terms.Store(&next)
	p.budgets.Set(next.rates(), p.cfg.Now())
	for _, changed := range []chan struct{}{p.changed, p.filtersChanged} {
		select {
		case changed <- struct{}{}:
		default: // the one that waits says it too
		}
	}
}

// rates are the units of fuel per second of each tenant.
func (t *Terms) rates() map[string]int64 {
	rates := make(map[string]int64, len(t.Tenants))
	for name, one := range t.Tenants {
		rates[name] = one.FuelPerSecond
	}
	return rates
}

// maxSuppress is how long the policies of an owner may hold an update back.
func (t *Terms) maxSuppress(tenant string) time.Duration {
	if tenant == "" {
		return t.MaxSuppress
	}
	return t.Tenants[tenant].MaxSuppress
}

// exempt reports whether a pod, which has these names, is one of those that must
// be able to start.
func (p *Plane) exempt(q *api.Question, names []string) bool {
	return p.cfg.Kinds[q.Origin.Source] == api.KindFile &&
		slices.ContainsFunc(p.terms.Load().Exempt, func(name string) bool { return slices.Contains(names, name) })
}
