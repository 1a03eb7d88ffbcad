package spectest

import (
	"bytes"
	"context"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/meter"
	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// transforms are what both suites are run with on both engines, beside the
// modules as they are. None may make a difference.
var transforms = []struct {
	name string
	set  func(*Config)
}{
	{"metered", metered},
	{"marked", func(c *Config) { c.Transform = mark }},
}

// mark puts a custom section in front of the others. It makes every module
// another one, of the same meaning. The section has a byte beside its name:
// wazero refuses one that has not if nothing follows.
func mark(module []byte) ([]byte, error) {
	const header = "\x00asm\x01\x00\x00\x00"
	if !bytes.HasPrefix(module, []byte(header)) {
		return module, nil
	}
	return slices.Concat([]byte(header), []byte("\x00\x06\x04mark\x00"), module[len(header):]), nil
}

// metered has package meter rewrite every module. The host grants all the fuel
// that is asked for, and ends what takes more of the stack than it may.
func metered(c *Config) {
	c.Transform = func(binary []byte) ([]byte, error) {
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
	c.Ready = func(ctx context.Context, r wazero.Runtime) error {
		_, err := r.NewHostModuleBuilder(meter.Module).NewFunctionBuilder().
			WithGoModuleFunction(api.GoModuleFunc(refill), nil, nil).Export(meter.Yield).Instantiate(ctx)
		return err
	}
	c.Prepare = func(m api.Module) {
		if stack, ok := m.ExportedGlobal(meter.Stack).(api.MutableGlobal); ok {
			stack.Set(meter.StackBudget)
		}
	}
}

func refill(_ context.Context, m api.Module, _ []uint64) {
	const slice = 100_000
	if int64(m.ExportedGlobal(meter.Stack).Get()) < 0 {
		panic("StackLimit") // how host functions end a call
	}
	if fuel, ok := m.ExportedGlobal(meter.Fuel).(api.MutableGlobal); ok {
		fuel.Set(slice)
	}
}
