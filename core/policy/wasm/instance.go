package wasm

import (
	"context"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/memory"
	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/safetext"
)

// pageSize is a page of linear memory, in bytes.
const pageSize = 64 << 10

// instance is a module with a memory. One call at a time runs in it.
type instance struct {
	plugin  *Plugin
	module  api.Module
	memory  api.Memory
	linear  *memory.Linear
	globals []api.MutableGlobal
	hooks   hookFunctions
	budget  budget
	// calm is how many calls in a row needed few new pages, see judge.
	calm int
	// tenant is the tenant of the pod that the last call was about, empty for the
	// operator's. owes is the cost of that call that is not charged yet; owe moves
	// it to the pool.
	tenant string
	owes   int64
	// made is the cost of making the instance, in units of fuel, until a call has
	// paid it.
	made int64
	// call is the state that host functions work on.
	call call
	ctx  guestContext
	// stack is where wazero reads parameters and leaves results.
	stack [1]uint64
}

// make makes an instance in which no code has run yet.
func (p *Plugin) make(ctx context.Context) (_ *instance, err error) {
	begun := time.Now()
	linear, err := memory.NewLinear(uint64(p.memoryPages) * pageSize)
	if err != nil {
		return nil, abi.Failf(abi.HostError, "%w", err)
	}
	i := &instance{plugin: p, linear: linear}
	i.module, err = p.engine.runtime.InstantiateModule(experimental.WithMemoryAllocator(ctx, allocator{linear, &i.budget.stay}),
		p.code.Module(), wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		linear.Free() // wazero does not free it
		return nil, abi.Failf(abi.Trap, "the module cannot be instantiated: %s", safetext.Shown(err.Error()))
	}
	i.memory, i.hooks = i.module.Memory(), findHooks(i.module)
	i.ctx = guestContext{context.Background(), i}
	defer func() {
		if err != nil {
			i.close()
		}
	}()
	i.budget.billed = p.longest == tenantSlice
	i.budget.slice, i.budget.most, i.budget.linear, i.budget.stay.in = leastSlice, leastSlice, linear, p.engine.stays
	if i.budget.fuel, err = global(i.module, meter.Fuel); err != nil {
		return nil, err
	}
	if i.budget.stack, err = global(i.module, meter.Stack); err != nil {
		return nil, err
	}
	for _, name := range p.globals {
		g, err := global(i.module, name)
		if err != nil {
			return nil, err
		}
		i.globals = append(i.globals, g)
	}
	p.rebuilding.took(time.Since(begun))
	return i, nil
}

// first makes the first instance. The guest initialises itself, and its state after
// that is the image of all other instances. The same module, settings, clock and
// random numbers lead to the same image on every node.
func (p *Plugin) first(ctx context.Context) (_ *instance, err error) {
	i, err := p.make(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			i.close()
		}
	}()
	i.linear.Populate()
	i.budget.most = mostSlice
	i.call.now = startTime
	i.begin(ctx)
	defer i.call.forget()
	defer i.finish()
	if err := i.initialise(ctx); err != nil {
		return nil, err
	}
	return i, i.capture()
}

// initialise calls the guest's functions for initialisation.
func (i *instance) initialise(ctx context.Context) error {
	if _, err := i.enter(ctx, "_initialize"); err != nil {
		return err
	}
	if status, err := i.enter(ctx, "wardlet_validate_settings"); err != nil {
		return err
	} else if status != 0 {
		return abi.Failf(abi.PluginError, "wardlet_validate_settings refuses the settings%s", i.call.why(status))
	}
	i.call.declared = &i.plugin.image.wants
	if status, err := i.enter(ctx, "wardlet_init"); err != nil {
		return err
	} else if status != 0 {
		return abi.Failf(abi.PluginError, "wardlet_init refuses%s", i.call.why(status))
	}
	i.call.declared = nil
	return i.findInput(ctx)
}

// another makes an instance with the state that the first had after its
// initialisation.
func (p *Plugin) another(ctx context.Context) (*instance, error) {
	i, err := p.make(ctx)
	if err != nil {
		return nil, err
	}
	if err := i.adopt(&p.image); err != nil {
		i.close()
		return nil, err
	}
	return i, nil
}

// why returns the details to add when a function of the guest reports an error.
func (c *call) why(status int32) string {
	text := c.output.why(status)
	if c.refused != nil {
		text += "; the last path it was refused: " + c.refused.Error()
	}
	return text
}

// enter calls one of the guest's functions, if the module exports it.
func (i *instance) enter(ctx context.Context, name string) (int32, error) {
	f := i.module.ExportedFunction(name)
	if f == nil {
		return 0, nil
	}
	err := i.run(ctx, f, initFuel)
	i.plugin.loadFuel += min(i.budget.used(), i.budget.full)
	if err != nil {
		if failure, ok := err.(*abi.Failure); ok { //nolint:errorlint // its own, not one behind it
			err = &abi.Failure{Code: failure.Code, Err: fmt.Errorf("%s: %w", name, failure.Err)}
		}
		return 0, err
	}
	return api.DecodeI32(i.stack[0]), nil
}

// run calls a function of the guest. Its result is left in stack. The error is a
// *Failure, or the cause of ctx.
func (i *instance) run(ctx context.Context, f api.Function, fuel int64) error {
	i.stack[0] = 0
	i.budget.fill(ctx, fuel)
	end := i.budget.stay.call()
	err := f.CallWithStack(&i.ctx, i.stack[:])
	end()
	switch {
	case err == nil && i.budget.used() > i.budget.full:
		failure := i.budget.exhausted()
		failure.Fuel = i.budget.full
		return failure
	case err == nil:
		return nil
	}
	i.budget.stack.Set(meter.StackBudget) // calls that were cut off did not return their stack
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	i.call.flush(i.plugin.log, i.tenant)
	failure := failureOf(err, i.memory.Size() >= i.plugin.memoryPages*pageSize, i.call.complaint)
	failure.Fuel = min(i.budget.used(), i.budget.full)
	if failure.Code == abi.FuelExhausted {
		failure.Fuel = i.budget.full // at which instruction of a block it stopped is chance
	}
	if failure.Code == abi.HostError {
		i.plugin.log.Logger.ErrorContext(ctx, "the host failed in a call of a plugin", "error", err)
	}
	return failure
}

// begin prepares the state that host functions work on.
func (i *instance) begin(ctx context.Context) {
	i.call.ctx = ctx
	i.call.output.left = i.plugin.outputBytes
}

// finish logs the unfinished lines.
func (i *instance) finish() { i.call.flush(i.plugin.log, i.tenant) }

// reset sets the instance back to its image. It returns false if that is not
// possible.
func (i *instance) reset() bool {
	if i.linear.Grown() {
		return false
	}
	i.restoreGlobals()
	restored, err := i.linear.Restore()
	if err != nil {
		i.plugin.log.Logger.Error("the memory of a plugin cannot be put back; it starts anew", "error", err)
		return false
	}
	i.judge(restored)
	i.bill(restored)
	return true
}

func (i *instance) close() {
	if err := i.module.Close(context.Background()); err != nil {
		i.plugin.log.Logger.Error("an instance of a plugin cannot be closed", "error", err)
	}
}

// image is the state of a plugin after its initialisation: every instance begins
// with it and is reset to it.
type image struct {
	// snapshot is the linear memory, nil if it has no pages. pages is its number of
	// pages.
	snapshot *memory.Snapshot
	pages    uint32
	// globals are the values of the module's own mutable globals.
	globals []uint64
	// wants is what the guest declared. input is the address of the area to which
	// the host writes the record. capacity is how many bytes of record fit into
	// that area.
	wants    abi.Projection
	input    uint32
	capacity uint32
	hasInput bool
}

// capture makes the image from an instance that has initialised itself.
func (i *instance) capture() error {
	img := &i.plugin.image
	img.pages = i.memory.Size() / pageSize
	for _, g := range i.globals {
		img.globals = append(img.globals, g.Get())
	}
	var err error
	if img.snapshot, err = i.linear.Capture(); err != nil {
		return abi.Failf(abi.HostError, "remember the plugin's memory: %w", err)
	}
	i.doubt()
	return nil
}

// adopt sets an instance to the state of the image, without running any of its
// code.
func (i *instance) adopt(img *image) error {
	if has := i.memory.Size() / pageSize; has < img.pages {
		if _, ok := i.memory.Grow(img.pages - has); !ok {
			return abi.Failf(abi.HostError, "the memory cannot grow to the %d pages it had", img.pages)
		}
	}
	if err := i.linear.Adopt(img.snapshot); err != nil {
		return abi.Failf(abi.HostError, "map the plugin's memory: %w", err)
	}
	i.restoreGlobals()
	return nil
}

func (i *instance) restoreGlobals() {
	for n, g := range i.globals {
		g.Set(i.plugin.image.globals[n])
	}
}

// release frees the snapshot.
func (img *image) release() {
	if img.snapshot != nil {
		img.snapshot.Release()
	}
}

// findInput asks the guest for the address of its input area.
func (i *instance) findInput(ctx context.Context) error {
	const header = 8
	img := &i.plugin.image
	if i.module.ExportedFunction("wardlet_input") == nil {
		if img.wants.InRecord() > 0 {
			return abi.Failf(abi.AbiMismatch, "the plugin declares paths, but exports no function wardlet_input")
		}
		return nil
	}
	address, err := i.enter(ctx, "wardlet_input")
	if err != nil {
		return err
	}
	img.input, img.hasInput = uint32(address), true
	capacity, ok := i.memory.ReadUint32Le(img.input)
	img.capacity = capacity
	if end := uint64(img.input) + header + uint64(capacity); !ok || end > uint64(i.memory.Size()) {
		return abi.Failf(abi.BadOutput, "wardlet_input names an area of %d bytes at %#x, the memory has %d", capacity, img.input, i.memory.Size())
	}
	return nil
}

// global returns a mutable global that the module exports.
func global(m api.Module, name string) (api.MutableGlobal, error) {
	g, ok := m.ExportedGlobal(name).(api.MutableGlobal)
	if !ok {
		return nil, abi.Failf(abi.HostError, "global %s cannot be reached", name)
	}
	return g, nil
}
