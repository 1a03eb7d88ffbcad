package policy

import (
	"cmp"
	"log/slog"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/decisionlog"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/review"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

// Config is what an Engine needs.
type Config struct {
	// Dir is the directory of the operator's policies, absolute; empty if only tenants
	// have policies. Links in it are followed.
	Dir string
	// Awaited names what fills Dir if no person does, "the ConfigMap a/b"; empty otherwise.
	Awaited string
	// Tenants are all tenants of the node.
	Tenants []Tenant
	// Trust says whose signature the operator's set must have.
	Trust bundle.Trust
	// AllowUnpinned lets documents leave out the digest of their module.
	AllowUnpinned bool
	// ModuleBytes is the length of the longest module that is read; 0 for the sandbox's
	// default.
	ModuleBytes int
	// Sources are the names of the sources in the order of their rank in agent.toml.
	Sources []string
	// MaxSuppress is how long the operator's policies may hold an update back.
	MaxSuppress time.Duration
	// Exempt are pods of file sources that must be able to start, as NAMESPACE/NAME: they
	// pass if the plugin of a policy fails, or if there is no set yet.
	Exempt []string
	// DefaultVerdict is the answer if no policy has an opinion: Allow, Hold or Deny;
	// empty for Allow.
	DefaultVerdict api.Answer
	// DenyAtOnce makes every denial final at once. Otherwise denials of pods that a
	// controller recreates again and again are paced.
	DenyAtOnce bool
	// MutateAPI lets policies change pods of an API server, too.
	MutateAPI bool
	// Kinds are the kinds of the sources by name: file, http or api. A source that is
	// missing here matches every kind.
	Kinds map[string]string
	// Node is this node's name. It is never empty.
	Node string
	// Facts returns the state of the node. If it is nil, policies that read the node see
	// nothing.
	Facts *Node
	// References are the objects that pods name. If it is nil, policies that read them see
	// none.
	References References
	// Running lists the running pods, which policies judge again; if it is nil, they are
	// not judged. Evictions keeps evictions over restarts; nil if nothing does.
	Running   review.Running
	Evictions review.Evictions
	// Kept keeps good sets and refusals over restarts; nil if nothing does.
	Kept rollout.Kept
	// Opinions keeps the newest answers of policies over restarts; nil if nothing does.
	Opinions eval.Opinions
	// Records keeps decisions over restarts. If it is nil, decisions are only shown.
	Records decisionlog.Records
	// Version is the agent's version. An agent of another version tries content again that
	// this one refused.
	Version string
	// Loader makes plugins; see Sandbox.
	Loader eval.Loader
	Logger *slog.Logger
	// Now is the wall clock.
	Now func() time.Time
	// ClockSynchronized reports whether Now is known to be right. It is called once for
	// each decision, from several goroutines; nil if that is never known.
	ClockSynchronized func() bool
	// openWatch opens a watch of directories, nil for inotify.
	openWatch func() (*fswatch.Backend, error)
	// Evaluators is how many questions are decided at once; 0 for one less than the
	// processors that Go may use, at least 1.
	Evaluators int
}

// Tenant has pods with policies of their own beside those of the operator.
type Tenant struct {
	// Name is a DNS label.
	Name string
	// Dir is the directory of its policies, absolute, empty for none.
	Dir string
	// Trust says whose signature its set must have.
	Trust bundle.Trust
	// MaxSuppress is how long its policies may hold an update back.
	MaxSuppress time.Duration
	// FuelPerSecond is the budget of decisions about its pods and their records, and that
	// of loading its policies; 0 for no limit.
	FuelPerSecond int64
	// PolicyMemory is how many bytes of memory one instance of each of its plugins may use
	// together, and how many its decoded documents may use; 0 for no limit.
	PolicyMemory int64
	// Owns reports whether a namespace is the tenant's. No namespace belongs to two
	// tenants.
	Owns func(namespace string) bool
}

// tenant returns the name of the tenant that owns a namespace, empty for the operator.
func (c *Config) tenant(namespace string) string {
	for i := range c.Tenants {
		if c.Tenants[i].Owns(namespace) {
			return c.Tenants[i].Name
		}
	}
	return ""
}

func (c *Config) evaluators() int {
	if c.Evaluators > 0 {
		return c.Evaluators
	}
	return max(1, runtime.GOMAXPROCS(0)-1)
}

// recorder returns the options for recording decisions.
func (c *Config) recorder() decisionlog.Options {
	o := decisionlog.Options{Records: c.Records, Version: c.Version, Node: c.Node, Logger: c.Logger, Now: c.Now}
	for i := range c.Tenants {
		o.Tenants = append(o.Tenants, c.Tenants[i].Name)
	}
	return o
}

// rollout returns the options of an owner.
func (c *Config) rollout(tenant, dir string, trust bundle.Trust, memory int64) rollout.Options {
	o := rollout.Options{
		Options: bundle.Options{Dir: dir, Trust: trust, AllowUnpinned: c.AllowUnpinned, ModuleBytes: c.ModuleBytes, Memory: memory},
		Tenant:  tenant, Node: c.Node, Version: c.Version, Loader: c.Loader, Kept: c.Kept, Logger: c.Logger, Now: c.Now,
		OpenWatch: c.openWatch,
	}
	if tenant == "" {
		o.Awaited = c.Awaited
	}
	if c.Records != nil {
		o.KeepFiles = c.Records.KeepFiles
	}
	return o
}

func (c *Config) clockSynchronized() bool { return c.ClockSynchronized != nil && c.ClockSynchronized() }

// Terms is the part of a Config that can change while an Engine runs. The fields mean the
// same as the fields of that name in Config and Tenant.
type Terms struct {
	MaxSuppress    time.Duration
	Exempt         []string
	DefaultVerdict api.Answer
	DenyAtOnce     bool
	// Tenants maps names to terms. Unknown names are ignored. A missing tenant keeps its
	// terms.
	Tenants map[string]TenantTerms
}

// TenantTerms are the terms of one tenant.
type TenantTerms struct {
	MaxSuppress   time.Duration
	FuelPerSecond int64
}

// Terms returns the initial terms of a configuration.
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

// SetTerms changes all terms at once, from the next decision on. Pods that are held or
// denied, and updates that are held back, are asked about again. It may be called from any
// goroutine.
func (p *Engine) SetTerms(next Terms) {
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
		default: // a pending signal is enough
		}
	}
}

// rates returns the units of fuel per second of each tenant.
func (t *Terms) rates() map[string]int64 {
	rates := make(map[string]int64, len(t.Tenants))
	for name, one := range t.Tenants {
		rates[name] = one.FuelPerSecond
	}
	return rates
}

// maxSuppress returns how long the policies of an owner may hold an update back.
func (t *Terms) maxSuppress(tenant string) time.Duration {
	if tenant == "" {
		return t.MaxSuppress
	}
	return t.Tenants[tenant].MaxSuppress
}

// exempt reports whether a pod with these names must be able to start.
func (p *Engine) exempt(q *api.Question, names []string) bool {
	return p.cfg.Kinds[q.Origin.Source] == api.KindFile &&
		slices.ContainsFunc(p.terms.Load().Exempt, func(name string) bool { return slices.Contains(names, name) })
}
