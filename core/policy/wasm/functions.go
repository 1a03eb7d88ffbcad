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

// function is a function that guests can import. run finds the parameters in stack
// and leaves the result there.
type function struct {
	params, results []api.ValueType
	run             func(i *instance, memory api.Memory, stack []uint64)
}

// offered returns the function of the host with this name, if there is one.
func offered(module, name string) (f function, ok bool) {
	switch module {
	case abiModule:
		f, ok = abiFunctions[name]
	case wasiModule:
		f, ok = wasiFunctions[name]
	}
	return f, ok
}

// offer adds the functions of the host to a runtime. Each works on the instance
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

// guestContext is the context of all calls of one instance. Host functions find the
// instance in it.
type guestContext struct {
	context.Context // context.Background, as made for one instance

	instance *instance
}

// callerOf returns the instance that calls a function of the host.
func callerOf(ctx context.Context) *instance {
	return ctx.(*guestContext).instance // wazero passes the context of the call on
}
