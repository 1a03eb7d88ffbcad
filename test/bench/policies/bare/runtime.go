package bare

import (
	"context"
	"errors"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// Runtime compiles modules.
type Runtime struct {
	cache   wazero.CompilationCache
	runtime wazero.Runtime
}

// New returns a runtime that keeps compiled code in a directory. It must be closed.
func New(ctx context.Context, cacheDir string) (_ *Runtime, err error) {
	cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
	if err != nil {
		return nil, err
	}
	config := wazero.NewRuntimeConfig().WithDebugInfoEnabled(false).WithCompilationCache(cache)
	r := &Runtime{cache, wazero.NewRuntimeWithConfig(ctx, config)}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close(ctx))
		}
	}()
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, r.runtime); err != nil {
		return nil, err
	}
	wardlet := r.runtime.NewHostModuleBuilder("wardlet1")
	for name, f := range functions {
		call := api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) { f.run(guestOf(ctx), stack) })
		wardlet.NewFunctionBuilder().WithGoModuleFunction(call, f.params, f.results).Export(name)
	}
	if _, err := wardlet.Instantiate(ctx); err != nil {
		return nil, err
	}
	yield := api.GoModuleFunc(func(ctx context.Context, _ api.Module, _ []uint64) { guestOf(ctx).tank.yield() })
	_, err = r.runtime.NewHostModuleBuilder(meter.Module).NewFunctionBuilder().WithGoModuleFunction(yield, nil, nil).Export(meter.Yield).Instantiate(ctx)
	return r, err
}

// Close closes everything that was made in the runtime.
func (r *Runtime) Close(ctx context.Context) error {
	return errors.Join(r.runtime.Close(ctx), r.cache.Close(ctx))
}

// Code is a compiled module.
type Code struct {
	runtime *Runtime
	module  wazero.CompiledModule
}

// Compile compiles a module unchanged.
func (r *Runtime) Compile(ctx context.Context, binary []byte) (*Code, error) {
	compiled, err := r.runtime.CompileModule(ctx, binary)
	return &Code{r, compiled}, err
}

// Metered returns a module with code that counts its fuel, as the agent compiles it.
func Metered(binary []byte) ([]byte, error) {
	m, err := module.Parse(binary, module.Caps{})
	if err != nil {
		return nil, err
	}
	rewritten, err := meter.Rewrite(context.Background(), m, 0)
	if err != nil {
		return nil, err
	}
	return rewritten.Binary, nil
}
