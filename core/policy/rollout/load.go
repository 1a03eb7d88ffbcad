package rollout

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// Loader makes sets from bundles.
type Loader struct {
	Options *Options
	// at is the policy that is being loaded or tested.
	at sched.CurrentPolicy
	// again reports that the last set was refused because of the machine: the same
	// content may be good next time.
	again bool
	// stale reports that the last load was given up, because the files have changed or
	// something is urgent. The load starts anew.
	stale bool
	// free reports that the set has been in force before: loading it is charged but does
	// not wait, because the set that it replaces may have spent the budget.
	free bool
	// anew makes the loader try again modules that were refused in earlier loads.
	anew bool
}

// load makes a set from a bundle, or returns every reason why it cannot. It reuses plugins
// of the running set that have the same module, settings and limits. running may be nil.
// Nothing of a refused set stays loaded.
func (l *Loader) load(ctx context.Context, r *bundle.Bundle, running *Set) (*Set, error) {
	digest := r.Digest()
	l.again, l.stale = false, false
	r.CheckMemory(l.Options.Tenant)
	var policies []*eval.Policy
	for _, doc := range r.Documents {
		// A refused document would only repeat its faults.
		if len(doc.Complaints) == 0 && ctx.Err() == nil && !l.stale {
			policies = append(policies, l.policy(ctx, r, doc, running))
		}
	}
	s := &Set{Eval: eval.NewSet(digest, policies)}
	l.testGroups(ctx, r, s.Eval)
	l.at.Leave()
	l.Options.loads.over()
	err := ctx.Err()
	switch {
	case err != nil:
	case l.stale:
		err = errStale
	default:
		err = r.Err()
	}
	if err != nil {
		s.Release()
		return nil, err
	}
	l.keep(r, s.Eval)
	s.compare(running, l.Options.Now)
	for _, p := range s.Eval.All() {
		p.Text = nil
	}
	return s, nil
}

// policy makes one policy; faults are added to its document.
func (l *Loader) policy(ctx context.Context, r *bundle.Bundle, doc *spec.Document, running *Set) *eval.Policy {
	l.at.Enter(doc.Name)
	p := &eval.Policy{Document: doc, Tenant: l.Options.Tenant, ModuleSum: r.Files[doc.Module].Sum, DocumentSum: r.Files[doc.Path].Sum, Log: l.Options.Logger}
	was := running.Find(doc.Name)
	if doc.Mode == spec.ModeShadow {
		was = running.candidate(doc.Name)
	}
	if was != nil {
		p.Counters = was.Counters
	} else {
		p.Counters = &eval.Counters{}
	}
	if doc.Mode == spec.ModeOff || doc.IsGroup() {
		return p
	}
	options := doc.PluginOptions(l.Options.Node)
	options.Tenant = l.Options.Tenant
	if was != nil && was.Plugin != nil && was.Plugin.MadeFrom(p.ModuleSum, &options) {
		p.Plugin = was.Plugin.Acquire()
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
		if err := l.Options.Loader.Forget(costing, r.Files[doc.Module].Data, options); err != nil {
			l.Options.Logger.Warn("the refusal of a module cannot be removed", "policy", doc.Name, "err", err)
		}
	}
	plugin, err := l.Options.Loader.Load(costing, r.Files[doc.Module].Data, options)
	l.Options.loads.pay(loadTook(plugin, err) + max(cost, moduleByteFuel*int64(len(r.Files[doc.Module].Data))))
	if err != nil {
		l.again = l.again || eval.IsMachineFailure(err)
		doc.Complain(doc.KeyOfFailure(err), "%s cannot be loaded: %v", doc.Module, err)
		return p
	}
	crashpoint.Reached("set compiled")
	p.Plugin = eval.NewSharedPlugin(plugin, p.ModuleSum, options, l.Options.Logger)
	if l.test(ctx, r, p); len(doc.Complaints) == 0 {
		l.Options.loads.pay(plugin.Warm(ctx, doc.Hooks))
	}
	return p
}

// loadTook returns the fuel of the start of a plugin, or of a failed start.
func loadTook(plugin eval.Plugin, err error) int64 {
	if err != nil {
		_, _, fuel := eval.FailureOf(err)
		return fuel
	}
	return plugin.LoadFuel()
}

// test runs the policy's own tests; failures are added to its document.
func (l *Loader) test(ctx context.Context, r *bundle.Bundle, p *eval.Policy) {
	// Instances that tests break must not affect the running set, which may have the same
	// plugin.
	ctx = wasm.DryRun(ctx)
	for i := range p.Tests {
		if !l.afford(ctx, r) {
			return
		}
		v, key := &p.Tests[i], spec.KeyOfTest(i)
		pods, ok := l.PodsOfTest(r, p, v, key)
		if !ok {
			continue
		}
		got, fuel, err := p.RunTest(ctx, v, pods)
		l.Options.loads.pay(fuel)
		l.again = l.again || eval.IsMachineFailure(err)
		if got != "" {
			p.Complain(key+".expect", "%s: want %s, got %s", v.About(), v.Expect, got)
		}
	}
}

// PodsOfTest returns the pods of a test by path. A fault is added to the policy's
// document, and ok is false.
func (l *Loader) PodsOfTest(r *bundle.Bundle, p *eval.Policy, v *spec.TestCase, key string) (pods map[string]*v1.Pod, ok bool) {
	pods, ok = map[string]*v1.Pod{}, true
	for _, f := range v.Files(key) {
		l.Options.loads.pay(textByteFuel * int64(len(r.Files[f.Path].Data)))
		manifest, err := eval.PodOfTest(r, f.Path, l.Options.Node)
		if err != nil {
			p.Complain(f.Key, "%v", err)
			ok = false
		}
		pods[f.Path] = manifest
	}
	return pods, ok
}

// testGroups runs the tests of groups, once every member is loaded.
func (l *Loader) testGroups(ctx context.Context, r *bundle.Bundle, s *eval.Set) {
	if ctx.Err() != nil || l.stale || r.Err() != nil {
		return
	}
	for _, p := range s.Policies {
		if p.Group != nil && p.Mode != spec.ModeOff {
			l.at.Enter(p.Name)
			l.test(ctx, r, p)
		}
	}
}

// keep writes the files of a set to the disk before the set is used: records name them by
// digest. If that fails, the set is used nevertheless.
func (l *Loader) keep(r *bundle.Bundle, s *eval.Set) {
	if l.Options.KeepFiles == nil {
		return
	}
	files := map[string][]byte{}
	for _, p := range s.Policies {
		if p.Mode == spec.ModeOff {
			continue
		}
		for _, path := range []string{p.Path, p.Module} {
			if f, ok := r.Files[path]; ok {
				files[f.Sum] = f.Data
			}
		}
	}
	if err := l.Options.KeepFiles(l.Options.Tenant, files); err != nil {
		l.Options.Logger.Error("the files of these policies are not kept with the decisions they make, which cannot be repeated without them", "directory", r.Dir, "err", err)
	}
}

// Check loads the policies of a directory once, as a node does at its start, runs their
// tests and closes everything again. It returns the state of the set; the error has every
// reason why the set would be refused.
func Check(ctx context.Context, c Options) (api.PolicySet, error) {
	return CheckBundle(ctx, &c, bundle.Read(c.Options))
}

// CheckBundle does the same as Check for a bundle.
func CheckBundle(ctx context.Context, c *Options, got *bundle.Bundle) (api.PolicySet, error) {
	s, err := LoadOnce(ctx, c, got)
	if err != nil {
		return api.PolicySet{}, err
	}
	inForce := &activeSet{dir: c.Dir}
	inForce.put(s, nil, c.Now())
	defer inForce.put(nil, nil, c.Now())
	return inForce.show(), nil
}

// LoadOnce makes a set from a bundle, which must be steady.
func LoadOnce(ctx context.Context, c *Options, got *bundle.Bundle) (*Set, error) {
	if !got.Steady {
		return nil, fmt.Errorf("the files in %s change while they are read; try again", c.Dir)
	}
	l := Loader{Options: c}
	return l.load(ctx, got, nil)
}
