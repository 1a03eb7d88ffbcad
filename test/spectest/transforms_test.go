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

// transforms are the transforms with which both suites are run on both engines, in addition to the
// unchanged modules. None may make a difference.
var transforms = []struct {
	name string
	set  func(*Config)
}{
	{"metered", metered},
	{"marked", func(c *Config) { c.Transform = mark }},
}

// mark adds a custom section in front of the others. It makes every module a different one with the
// same meaning. The section has a byte after its name, because wazero refuses a section without
// content if nothing follows.
func mark(module []byte) ([]byte, error) {
	const header = "\x00asm\x01\x00\x00\x00"
	if !bytes.HasPrefix(module, []byte(header)) {
		return module, nil
	}
	return slices.Concat([]byte(header), []byte("\x00\x06\x04mark\x00"), module[len(header):]), nil
}

// metered makes package meter rewrite every module. The host grants all the fuel that is requested,
// and terminates a call that uses more of the stack than allowed.
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
		panic("StackLimit") // a panic of a host function terminates a call
	}
	if fuel, ok := m.ExportedGlobal(meter.Fuel).(api.MutableGlobal); ok {
		fuel.Set(slice)
	}
}
