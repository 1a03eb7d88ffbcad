package wasm

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/meter"
)

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64

	abiModule  = "wardlet1"
	wasiModule = "wasi_snapshot_preview1"
)

// function is one that guests can import. run finds the parameters in stack
// and leaves the result there.
type function struct {
	params, results []api.ValueType
	run             func(i *instance, memory api.Memory, stack []uint64)
}

// offered looks a function up that plugins are given.
func offered(module, name string) (f function, ok bool) {
	switch module {
	case abiModule:
		f, ok = abiFunctions[name]
	case wasiModule:
		f, ok = wasiFunctions[name]
	}
	return f, ok
}

// offer makes the functions known to a runtime. Each works for the instance
// that calls it.
func offer(ctx context.Context, runtime wazero.Runtime) error {
	for module, functions := range map[string]map[string]function{abiModule: abiFunctions, wasiModule: wasiFunctions} {
		builder := runtime.NewHostModuleBuilder(module)
		for name, f := range functions {
			call := api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) {
				i := callerOf(ctx)
				i.tank.stay.end()
				i.tank.charge(hostFuel)
				f.run(i, i.memory, stack)
				i.tank.stay.begin()
			})
			builder.NewFunctionBuilder().WithGoModuleFunction(call, f.params, f.results).Export(name)
		}
		if _, err := builder.Instantiate(ctx); err != nil {
			return fmt.Errorf("offer the functions of %s: %w", module, err)
		}
	}
	yield := api.GoModuleFunc(func(ctx context.Context, _ api.Module, _ []uint64) {
		t := &callerOf(ctx).tank
		t.stay.end()
		t.yield()
		t.stay.begin()
	})
	_, err := runtime.NewHostModuleBuilder(meter.Module).
		NewFunctionBuilder().WithGoModuleFunction(yield, nil, nil).Export(meter.Yield).Instantiate(ctx)
	if err != nil {
		return fmt.Errorf("offer the functions of %s: %w", meter.Module, err)
	}
	return nil
}

// guestContext is the context of all calls of an instance: it leads the host's
// functions back to it.
type guestContext struct {
	context.Context // a context that is made for one instance

	instance *instance
}

// callerOf is the instance that calls a function of the host.
func callerOf(ctx context.Context) *instance {
	return ctx.(*guestContext).instance // wazero hands on the context of the call
}
