package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime"

	"github.com/wardlet/wardlet/core/policy/wasm/compile"
)

// Options are what a policy says about its plugin.
type Options struct {
	// Policy is the policy's name, for logs and errors.
	Policy string
	// Hooks are those the policy names; the module must have each.
	Hooks []string
	// Settings are as TOML decodes them: strings, bools, int64, finite
	// float64, times, and lists and tables of them.
	Settings map[string]any
	// MemoryPages is the most memory the plugin gets, in pages of 64 KiB, from
	// 1 to 1024.
	MemoryPages uint32
	// Fuel is the most that a call may take, at least 1; docs/abi.md says what
	// takes how much.
	Fuel int64
	// OutputBytes is the most text the plugin may hand over in one call, at
	// least 1.
	OutputBytes int
	// Node is the name of this node.
	Node string
	// Tenant is whose policy it is, empty for the operator's: modules of many
	// are compiled in turn.
	Tenant string
	// Capabilities are what the policy may see beside the question:
	// some of Capabilities.
	Capabilities []string
}

// maxMemoryPages is the most that MemoryPages may be.
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

// Load verifies and compiles a module and initialises the plugin in it. What
// is refused, is refused with a reason; the error is a *Failure where the
// module is at fault. binary is not kept.
func (e *Engine) Load(ctx context.Context, binary []byte, o Options) (_ *Plugin, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = hostFailed(r)
		}
	}()
	if err := o.check(); err != nil {
		return nil, err
	}
	may, err := readCapabilities(o.Capabilities)
	if err != nil {
		return nil, err
	}
	settings, err := checkedSettings(o.Settings)
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
		engine: e, name: o.Policy, node: o.Node, settings: settings, log: newPluginLog(e.log, o.Policy, e.shares),
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

// LoadFuel is what initialising the plugin took. That of a load which fails is in its
// Failure.
func (p *Plugin) LoadFuel() int64 { return p.loadFuel }

// failed is why the plugin was not loaded, with what that took.
func (p *Plugin) failed(err error) error {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return &Failure{Code: failure.Code, Err: failure.Err, Fuel: p.loadFuel}
	}
	return err
}

// Forget has a module compiled once more that was refused for what it takes or
// does. binary is not kept.
func (e *Engine) Forget(ctx context.Context, binary []byte, o Options) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = hostFailed(r)
		}
	}()
	defer startCost(ctx, nil)()
	_, source, err := e.accept(ctx, binary, sha256.Sum256(binary), &o)
	if _, refused := errors.AsType[*Failure](err); refused {
		return nil // it was never compiled
	}
	if err != nil {
		return err
	}
	return e.cache.Forget(source.Digest)
}

// ErrNotCompiled is that the machine, and not the module, is why there is no
// code: trying again may help.
var ErrNotCompiled = errors.New("the module is not compiled")

// uncompiled is the error of a module for which there is no code.
func uncompiled(err error) error {
	if refused, ok := errors.AsType[*compile.Refused](err); ok {
		return &Failure{Code: AbiMismatch, Err: fmt.Errorf("the module does not compile: %s", shown(refused.Error()))}
	}
	return fmt.Errorf("%w: %w", ErrNotCompiled, err)
}

// MaxPaused is how many calls of a plugin may pause (WithTurns) at once: with more
// the next would wait for an instance that a paused one has.
const MaxPaused = 8

// mostInstances is how many instances a plugin may have: more calls than there
// are processors would not run at once.
func mostInstances() int { return runtime.GOMAXPROCS(0) + MaxPaused }

// seed is what the random numbers of a plugin come from.
func seed(module [sha256.Size]byte, s settings) [sha256.Size]byte {
	table := s.digest()
	return sha256.Sum256(append(module[:], table[:]...))
}
