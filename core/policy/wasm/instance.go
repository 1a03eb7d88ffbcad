package wasm

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// instance is a module with a memory, initialised and ready to judge.
type instance struct {
	module api.Module
	memory api.Memory
	// admit is nil where the module has no such hook.
	admit api.Function
	// wants is what the guest declared; input is where it gets it: the address
	// of the area, and how many bytes of record fit into it.
	wants    projection
	input    uint32
	capacity uint32
	hasInput bool
	snapshot *snapshot
}

// start makes an instance and has the guest initialise itself. Module,
// settings, clock and random numbers being the same, every instance of a
// plugin comes out the same.
func (p *Plugin) start(ctx context.Context) (_ *instance, err error) {
	memory := &allocator{}
	ctx = experimental.WithMemoryAllocator(ctx, memory)
	module, err := p.code.runtime.InstantiateModule(ctx, p.code.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		memory.made.Free() // wazero forgets it
		return nil, failf(Trap, "the module cannot be instantiated: %s", shown(err.Error()))
	}
	i := &instance{module: module, memory: module.Memory(), admit: module.ExportedFunction("wardlet_admit")}
	defer func() {
		if err != nil {
			p.close(ctx, i)
		}
	}()
	p.begin(ctx, &call{declared: &i.wants, now: startTime, seed: func() [sha256.Size]byte { return p.seed }})
	defer p.finish()
	if _, err := p.enter(i, "_initialize"); err != nil {
		return nil, err
	}
	if status, err := p.enter(i, "wardlet_init"); err != nil {
		return nil, err
	} else if status != 0 {
		return nil, failf(PluginError, "wardlet_init refuses%s", p.call.why(status))
	}
	p.call.declared = nil
	if err := p.findInput(i); err != nil {
		return nil, err
	}
	return i, p.snapshot(i, &memory.made)
}

// why is what is known when a hook reports an error.
func (c *call) why(status int32) string {
	text := ": " + c.output.said()
	if text == ": " {
		text = fmt.Sprintf(" with %d and gives no reason", status)
	}
	if c.refused != nil {
		text += "; the last path it was refused: " + c.refused.Error()
	}
	return text
}

// enter calls one of the guest's functions, if it has it.
func (p *Plugin) enter(i *instance, name string) (int32, error) {
	f := i.module.ExportedFunction(name)
	if f == nil {
		return 0, nil
	}
	if err := p.run(i, f); err != nil {
		return 0, &Failure{Code: err.Code, Err: fmt.Errorf("%s: %w", name, err.Err)}
	}
	return api.DecodeI32(p.stack[0]), nil
}

// findInput asks the guest where its input area is.
func (p *Plugin) findInput(i *instance) error {
	const header = 8
	if i.module.ExportedFunction("wardlet_input") == nil {
		if len(i.wants) > 0 {
			return failf(AbiMismatch, "the plugin declares paths, but exports no function wardlet_input")
		}
		return nil
	}
	address, err := p.enter(i, "wardlet_input")
	if err != nil {
		return err
	}
	i.input, i.hasInput = uint32(address), true
	capacity, ok := i.memory.ReadUint32Le(i.input)
	i.capacity = capacity
	if end := uint64(i.input) + header + uint64(capacity); !ok || end > uint64(i.memory.Size()) {
		return failf(BadOutput, "wardlet_input names an area of %d bytes at %#x, the memory has %d", capacity, i.input, i.memory.Size())
	}
	return nil
}

// snapshot remembers what the instance is put back to.
func (p *Plugin) snapshot(i *instance, memory *linearMemory) (err error) {
	globals := make([]api.MutableGlobal, len(p.globals))
	for n, name := range p.globals {
		g, ok := i.module.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			return failf(HostError, "global %s cannot be reached", name)
		}
		globals[n] = g
	}
	if i.snapshot, err = takeSnapshot(memory, int(i.memory.Size()), globals); err != nil {
		return failf(HostError, "remember the plugin's memory: %w", err)
	}
	return nil
}
