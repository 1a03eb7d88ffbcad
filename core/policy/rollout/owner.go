package rollout

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/sched"
)

// Owner is the operator or a tenant with policies of its own: a directory, and the set in
// force.
type Owner struct {
	// Tenant is the tenant's name, empty for the operator.
	Tenant   string
	Dir      string
	active   *activeSet
	reloader *reloader
	// tried is closed after the first attempt to load the set.
	tried chan struct{}
}

// WasTried reports whether the first attempt to load the set has finished.
func (o *Owner) WasTried() bool {
	select {
	case <-o.tried:
		return true
	default:
		return false
	}
}

// Judges reports whether the owner's policies judge the pods of a tenant. The tenant's own
// policies do, and the operator's.
func (o *Owner) Judges(tenant string) bool { return o.Tenant == "" || o.Tenant == tenant }

// New returns an owner; Run starts it. loading are the budgets of all tenants for loading
// policies. wake is called once, when the first attempt to load the set has finished.
// changed is called when another set is in force, with the hooks of its policies and of the
// previous ones.
func New(o Options, loading *sched.Budgets, wake func(), changed func(o *Owner, hooks map[string]bool)) *Owner {
	x := &Owner{Tenant: o.Tenant, Dir: o.Dir, active: &activeSet{tenant: o.Tenant, dir: o.Dir}, tried: make(chan struct{})}
	tried := sync.OnceFunc(func() {
		close(x.tried)
		wake()
	})
	x.reloader = newReloader(&o, x.active, tried, func(hooks map[string]bool) { changed(x, hooks) })
	x.reloader.cfg.loads = x.reloader.budget(loading)
	return x
}

// Run keeps the set of the directory in force until ctx ends.
func (o *Owner) Run(ctx context.Context) { o.reloader.run(ctx) }

// End takes the set out of force after Run has returned.
func (o *Owner) End(now time.Time) { o.active.put(nil, nil, now) }

// Show returns what `get policies` shows.
func (o *Owner) Show() api.PolicySet {
	set := o.active.show()
	o.reloader.cfg.loads.show(&set)
	return set
}

// Use returns the set in force, which the caller must release. If there is none, it is
// nil and the error says why, if that is known.
func (o *Owner) Use() (*Set, error) { return o.active.use() }

// Current returns the policy that is being loaded or tested, empty for none.
func (o *Owner) Current() string { return o.reloader.loader.at.Name() }

// Reload reads the directory now and waits for the result.
func (o *Owner) Reload(ctx context.Context) (api.PolicySet, error) {
	return o.order(ctx, command{look: true})
}

// Retry does what Reload does. It also tries content again that was refused before, and a
// set that failed and stays in force.
func (o *Owner) Retry(ctx context.Context) (api.PolicySet, error) {
	r := o.reloader
	return o.order(ctx, command{look: true, do: func(context.Context) error {
		r.kept.retry()
		r.standing.current().retry(r.cfg.Now())
		r.loader.anew = true
		return nil
	}})
}

// Rollback activates the set that was in force before.
func (o *Owner) Rollback(ctx context.Context) (api.PolicySet, error) {
	return o.order(ctx, command{do: o.reloader.goBack})
}

// Options are what the policies of one owner need.
type Options struct {
	// Options say how the owner's directory is read.
	bundle.Options

	// Tenant is the owner's name, empty for the operator.
	Tenant string
	// Node is this node's name.
	Node string
	// Version is the agent's version. An agent of another version tries content again that
	// this one refused.
	Version string
	// Loader makes plugins.
	Loader eval.Loader
	// Kept keeps good sets and refusals over restarts; nil if nothing does.
	Kept Kept
	// KeepFiles writes the files of a set to the disk by digest, so that its decisions can
	// be repeated; nil if they are not written.
	KeepFiles func(tenant string, files map[string][]byte) error
	// OpenWatch opens a watch of directories, nil for inotify.
	OpenWatch func() (*fswatch.Backend, error)
	Logger    *slog.Logger
	// Now is the wall clock.
	Now func() time.Time

	// loads bounds the cost of loading the set, nil for no bound.
	loads *loadBudget
}
