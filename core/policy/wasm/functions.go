package wasm

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
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
	run             func(p *Plugin, memory api.Memory, stack []uint64)
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

// offer makes the functions known to a runtime. They work for one plugin.
func (p *Plugin) offer(ctx context.Context, runtime wazero.Runtime) error {
	for module, functions := range map[string]map[string]function{abiModule: abiFunctions, wasiModule: wasiFunctions} {
		builder := runtime.NewHostModuleBuilder(module)
		for name, f := range functions {
			call := api.GoModuleFunc(func(_ context.Context, guest api.Module, stack []uint64) {
				f.run(p, guest.Memory(), stack)
			})
			builder.NewFunctionBuilder().WithGoModuleFunction(call, f.params, f.results).Export(name)
		}
		if _, err := builder.Instantiate(ctx); err != nil {
			return fmt.Errorf("offer the functions of %s: %w", module, err)
		}
	}
	return nil
}
