package policy

import (
	"context"
	"errors"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// loader makes sets of readings.
type loader struct {
	cfg *Config
	// tenant is whose sets it loads, empty for the operator's.
	tenant string
	// at is the policy that is being loaded or tested.
	at sched.CurrentPolicy
	// again says that the last set was refused because of the machine: the same
	// content may be good next time.
	again bool
	// stale: the last set was not loaded to its end, as the files are others by now or
	// something is urgent. It is begun anew.
	stale bool
	// free: what is loaded has been in force before. It is paid for and does not wait,
	// as what it takes the place of may have spent the budget.
	free bool
	// anew has modules tried again that were refused in earlier loads.
	anew bool
}

// load makes a set of what was read, or gives every reason why not. What the
// running set has loaded from the same module, settings and limits is used
// again; running may be nil. Of a set that is refused nothing stays loaded.
func (l *loader) load(ctx context.Context, r *bundle.Bundle, running *set) (*set, error) {
	digest := r.Digest()
	l.again, l.stale = false, false
	r.CheckMemory(l.tenant)
	var policies []*policy
	for _, doc := range r.Documents {
		// One that is refused anyway would only repeat itself.
		if len(doc.Complaints) == 0 && ctx.Err() == nil && !l.stale {
			policies = append(policies, l.policy(ctx, r, doc, running))
		}
	}
	s := newSet(digest, policies)
	l.testGroups(ctx, r, s)
	l.at.Leave()
	l.cfg.loads.over()
	err := ctx.Err()
	switch {
	case err != nil:
	case l.stale:
		err = errStale
	default:
		err = r.Err()
	}
	if err != nil {
		s.release()
		return nil, err
	}
	l.keep(r, s)
	s.compare(running, l.cfg.Now)
	for _, p := range s.all() {
		p.Text = nil
	}
	return s, nil
}

// policy makes one policy; what is wrong is put down in its document.
func (l *loader) policy(ctx context.Context, r *bundle.Bundle, doc *spec.Document, running *set) *policy {
	l.at.Enter(doc.Name)
	p := &policy{Document: doc, tenant: l.tenant, sum: r.Files[doc.Module].Sum, source: r.Files[doc.Path].Sum, log: l.cfg.Logger}
	was := running.find(doc.Name)
	if doc.Mode == spec.ModeShadow {
		was = running.candidate(doc.Name)
	}
	if was != nil {
		p.counts = was.counts
	} else {
		p.counts = &counters{}
	}
	if doc.Mode == spec.ModeOff || doc.IsGroup() {
		return p
	}
	options := doc.PluginOptions(l.cfg.Node)
	options.Tenant = l.tenant
	if was != nil && was.plugin != nil && was.plugin.madeFrom(p.sum, &options) {
		p.plugin = was.plugin.acquire()
		l.test(ctx, r, p)
		return p
	}
	if !l.afford(ctx, r) {
		return p
	}
	crashpoint.Reached("set verified")
	cost := int64(0)
	costing := wasm.WithCost(ctx, func(cpu time.Duration) { cost += cpu.Nanoseconds() * nanosecondFuel })
	if l.anew {
		if err := l.cfg.Loader.Forget(costing, r.Files[doc.Module].Data, options); err != nil {
			l.cfg.Logger.Warn("that a module was refused cannot be forgotten", "policy", doc.Name, "err", err)
		}
	}
	plugin, err := l.cfg.Loader.Load(costing, r.Files[doc.Module].Data, options)
	l.cfg.loads.pay(loadTook(plugin, err) + max(cost, moduleByteFuel*int64(len(r.Files[doc.Module].Data))))
	if err != nil {
		l.again = l.again || ofMachine(err)
		doc.Complain(doc.KeyOfFailure(err), "%s cannot be loaded: %v", doc.Module, err)
		return p
	}
	crashpoint.Reached("set compiled")
	p.plugin = newHandle(plugin, p.sum, options, l.cfg.Logger)
	if l.test(ctx, r, p); len(doc.Complaints) == 0 {
		l.cfg.loads.pay(plugin.Warm(ctx, doc.Hooks))
	}
	return p
}

// loadTook is what the start of a plugin took, or of one that cannot be loaded.
func loadTook(plugin Plugin, err error) int64 {
	if err != nil {
		_, _, fuel := failureOf(err)
		return fuel
	}
	return plugin.LoadFuel()
}

// ofMachine says of why a plugin could not be loaded or asked that it may be
// over next time, and says nothing about the plugin.
func ofMachine(err error) bool {
	failure, ok := errors.AsType[*wasm.Failure](err)
	return errors.Is(err, wasm.ErrNotCompiled) || ok && (failure.Code == wasm.HostError || failure.Code == wasm.NotReady)
}

// state is what `get policies` shows of a policy.
func (p *policy) state(path func(string) string) api.PolicyState {
	s := api.PolicyState{
		Name: p.Name, Document: path(p.Path), SHA256: p.sum,
		Hooks: p.Hooks, Mode: p.Mode, Priority: p.Priority, OnError: string(p.OnError), OnChange: p.OnChange,
		MutablePaths: p.MutablePaths, Capabilities: p.Capabilities,
	}
	if p.Group == nil {
		s.Module = path(p.Module)
	} else {
		s.Expression, s.OnError = *p.Expression, ""
	}
	p.counts.show(&s)
	if p.comparison != nil {
		s.Shadow = p.comparison.show()
	}
	if p.plugin != nil {
		s.Breakers = p.plugin.breakers.show()
	}
	return s
}
