package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/accepted"
	"github.com/wardlet/wardlet/core/policy/wasm/compile"
	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/core/policy/wasm/pluginlog"
	"github.com/wardlet/wardlet/core/policy/wasm/safetext"
)

// Options are the settings of a policy for its plugin.
type Options struct {
	// Policy is the policy's name, for logs and errors.
	Policy string
	// Hooks are the hooks that the policy names. The module must have each.
	Hooks []string
	// Settings are in the types that TOML decodes to: strings, bools, int64, finite
	// float64, times, and lists and tables of them.
	Settings map[string]any
	// MemoryPages is the largest size of the plugin's memory, in pages of 64 KiB,
	// from 1 to 1024.
	MemoryPages uint32
	// Fuel is the most fuel that a call may use, at least 1. docs/abi.md lists the
	// fuel of each operation.
	Fuel int64
	// OutputBytes is the most text that the plugin may hand over in one call, in
	// bytes, at least 1.
	OutputBytes int
	// Node is the name of this node.
	Node string
	// Tenant is the tenant that owns the policy, empty for the operator. The
	// modules of different tenants are compiled in turn.
	Tenant string
	// Capabilities are what the policy may see in addition to the question: names
	// from the list Capabilities.
	Capabilities []string
}

// maxMemoryPages is the largest value of MemoryPages.
const maxMemoryPages = 1024

func (o *Options) check() error {
	switch {
	case o.MemoryPages < 1 || o.MemoryPages > maxMemoryPages:
		return fmt.Errorf("memory_pages is %d: it must be 1 to %d", o.MemoryPages, maxMemoryPages)
	case o.Fuel < 1:
		return fmt.Errorf("fuel is %d: it must be at least 1", o.Fuel)
	case o.OutputBytes < 1:
		return fmt.Errorf("output_bytes is %d: it must be at least 1", o.OutputBytes)
	}
	return nil
}

// Load verifies and compiles a module and initialises the plugin in it. The error
// is a *Failure with the reason if the module is at fault. binary is not kept.
func (e *Engine) Load(ctx context.Context, binary []byte, o Options) (_ *Plugin, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = hostFailed(r)
		}
	}()
	if err := o.check(); err != nil {
		return nil, err
	}
	may, err := abi.ReadCapabilities(o.Capabilities)
	if err != nil {
		return nil, err
	}
	settings, err := abi.CheckSettings(o.Settings)
	if err != nil {
		return nil, err
	}
	stop := startCost(ctx, nil)
	defer stop()
	sum := sha256.Sum256(binary)
	a, source, err := e.accept(ctx, binary, sum, &o)
	if err != nil {
		return nil, err
	}
	p := &Plugin{
		engine: e, name: o.Policy, node: o.Node, settings: settings, log: pluginlog.New(e.log, o.Policy, e.shares),
		memoryPages: o.MemoryPages, fuel: o.Fuel, outputBytes: o.OutputBytes, globals: a.Globals,
		seed: seed(sum, settings), may: may, pool: newPool(mostInstances()),
		storms: e.storms.count(sum, o.Tenant), longest: longestSlice(o.Tenant),
	}
	if p.code, err = e.library.Acquire(ctx, o.Tenant, source); err != nil {
		return nil, uncompiled(err)
	}
	stop()
	defer startCost(ctx, p.LoadFuel)()
	first, err := p.first(ctx)
	if err != nil {
		p.code.Release()
		return nil, p.failed(err)
	}
	p.pool.open(first)
	e.plugins.Add(1)
	return p, nil
}

// LoadFuel returns the fuel that initialising the plugin used. If a load fails, its
// Failure has that fuel.
func (p *Plugin) LoadFuel() int64 { return p.loadFuel }

// failed adds the fuel of the initialisation to the error for which a plugin was
// not loaded.
func (p *Plugin) failed(err error) error {
	if failure, ok := errors.AsType[*abi.Failure](err); ok {
		return &abi.Failure{Code: failure.Code, Err: failure.Err, Fuel: p.loadFuel}
	}
	return err
}

// Forget removes the record that a module was refused when it was compiled, so that
// it is compiled again. binary is not kept.
func (e *Engine) Forget(ctx context.Context, binary []byte, o Options) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = hostFailed(r)
		}
	}()
	defer startCost(ctx, nil)()
	_, source, err := e.accept(ctx, binary, sha256.Sum256(binary), &o)
	if _, refused := errors.AsType[*abi.Failure](err); refused {
		return nil // it was never compiled
	}
	if err != nil {
		return err
	}
	return e.cache.Forget(source.Digest)
}

// ErrNotCompiled is the error if there is no code because of the machine and not
// because of the module. Another attempt may succeed.
var ErrNotCompiled = errors.New("the module is not compiled")

// uncompiled returns the error for a module for which there is no code.
func uncompiled(err error) error {
	if refused, ok := errors.AsType[*compile.Refused](err); ok {
		return &abi.Failure{Code: abi.AbiMismatch, Err: fmt.Errorf("the module does not compile: %s", safetext.Shown(refused.Error()))}
	}
	return fmt.Errorf("%w: %w", ErrNotCompiled, err)
}

// MaxPaused is how many calls of a plugin may pause (WithTurns) at once. With more,
// the next call would wait for an instance that a paused call uses.
const MaxPaused = 8

// mostInstances returns how many instances a plugin may have. Of those that are not
// paused, no more can run at once than there are processors.
func mostInstances() int { return runtime.GOMAXPROCS(0) + MaxPaused }

// seed returns the seed of a plugin's random numbers.
func seed(module [sha256.Size]byte, s abi.Settings) [sha256.Size]byte {
	table := s.Digest()
	return sha256.Sum256(append(module[:], table[:]...))
}

// serves reports whether a policy with these options may use the module: it has the
// policy's hooks, and its memory is not too large.
func serves(a *accepted.Module, o *Options) bool {
	missing := func(hook string) bool { return !slices.Contains(a.Hooks, hook) }
	return !slices.ContainsFunc(o.Hooks, missing) && a.Pages <= uint64(o.MemoryPages)
}

// accept verifies a module, unless this program did so before, and returns its
// description and the source to compile. A module that was verified before is
// rewritten only when the source is read.
func (e *Engine) accept(ctx context.Context, binary []byte, sum [sha256.Size]byte, o *Options) (*accepted.Module, compile.Source, error) {
	if a := e.accepted.Load(sum); a != nil && serves(a, o) {
		return a, compile.Source{Digest: a.Metered, Module: func() ([]byte, error) {
			_, metered, err := e.rewrite(ctx, binary, sum, o)
			return metered, err
		}}, nil
	}
	a, metered, err := e.rewrite(ctx, binary, sum, o)
	return a, compile.Whole(metered), err
}

// rewrite verifies and rewrites a module, and stores its description. The error is
// a *Failure, or the cause of ctx.
func (e *Engine) rewrite(ctx context.Context, binary []byte, sum [sha256.Size]byte, o *Options) (*accepted.Module, []byte, error) {
	m, err := verified(ctx, binary, e.caps, o)
	if err != nil {
		return nil, nil, err
	}
	r, err := meter.Rewrite(ctx, m, e.caps.Metered)
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, &abi.Failure{Code: abi.AbiMismatch, Err: err}
	}
	a := acceptedOf(m, r)
	e.accepted.Store(sum, a)
	return a, r.Binary, nil
}

func acceptedOf(m *module.Module, r *meter.Rewritten) *accepted.Module {
	a := &accepted.Module{
		Metered: sha256.Sum256(r.Binary), Globals: r.Globals,
		Hooks: []string{}, Pages: m.Memories[m.Export("memory").Index].Min,
	}
	for hook, name := range abi.Exports {
		if m.Export(name) != nil {
			a.Hooks = append(a.Hooks, hook)
		}
	}
	slices.Sort(a.Hooks)
	return a
}
