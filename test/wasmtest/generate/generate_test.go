package generate

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// inputs returns bytes from which modules are made, the same in every run.
func inputs(n, length int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		random := rand.New(rand.NewPCG(uint64(i), 7))
		all[i] = make([]byte, length)
		for j := range all[i] {
			all[i][j] = byte(random.Uint32())
		}
	}
	return all
}

func host(tb testing.TB, config wazero.RuntimeConfig) wazero.Runtime {
	tb.Helper()
	r := wazero.NewRuntimeWithConfig(tb.Context(), config.WithCoreFeatures(api.CoreFeaturesV2))
	tb.Cleanup(func() { _ = r.Close(context.Background()) })
	see := func(_ context.Context, stack []uint64) { stack[0] = uint64(See(uint32(stack[0]), stack[1])) }
	_, err := r.NewHostModuleBuilder(ImportModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(see), []api.ValueType{api.ValueTypeI32, api.ValueTypeI64}, []api.ValueType{api.ValueTypeI32}).
		Export(ImportName).Instantiate(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestEveryModuleIsValidAndEnds(t *testing.T) {
	t.Parallel()
	r := host(t, wazero.NewRuntimeConfigInterpreter())
	calls, trapped := 0, 0
	for i, input := range inputs(400, 500) {
		m := New(input, Options{Settled: i%2 == 0})
		instance, err := r.InstantiateWithConfig(t.Context(), m.Binary, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			if strings.Contains(err.Error(), "start function") {
				continue
			}
			t.Fatalf("module %d: %v", i, err)
		}
		for _, name := range m.Functions {
			calls++
			if _, err := instance.ExportedFunction(name).Call(t.Context()); err != nil {
				trapped++
			}
		}
		for _, name := range m.Globals {
			if _, ok := instance.ExportedGlobal(name).(api.MutableGlobal); !ok {
				t.Errorf("module %d does not export the mutable global %s", i, name)
			}
		}
		if err := instance.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d of %d calls trapped", trapped, calls)
	if trapped > calls/2 {
		t.Errorf("%d of %d calls trapped: too little is run to its end", trapped, calls)
	}
}

// used counts the instructions of modules.
func used(tb testing.TB, binaries ...[]byte) map[module.Op]int {
	tb.Helper()
	ops := map[module.Op]int{}
	for _, binary := range binaries {
		m, err := module.Parse(binary, module.Caps{})
		if err != nil {
			tb.Fatal(err)
		}
		for i := range m.Bodies {
			code := m.Code(i)
			var in module.Instruction
			for code.Next(&in) {
				ops[in.Op]++
			}
			if err := code.Err(); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return ops
}

func TestEveryInstructionIsReached(t *testing.T) {
	t.Parallel()
	var binaries [][]byte
	for _, input := range inputs(2000, 500) {
		binaries = append(binaries, New(input, Options{}).Binary)
	}
	ops := used(t, binaries...)
	classes := map[module.Class]int{}
	for _, prefix := range []module.Op{0, 0xfc << 16, 0xfd << 16} {
		for n := range module.Op(256) {
			op := prefix | n
			info, ok := op.Info()
			if !ok {
				continue
			}
			if ops[op] == 0 {
				t.Errorf("%s is in no module", op)
			}
			classes[info.Class] += ops[op]
		}
	}
	t.Logf("instructions by class: %v", classes)
	for class := module.Free; class <= module.Bulk; class++ {
		if classes[class] < 100 {
			t.Errorf("%d instructions of class %d", classes[class], class)
		}
	}
}

func TestTheSameBytesMakeTheSameModule(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, input := range inputs(20, 300) {
		a, b := New(input, Options{}), New(slices.Clone(input), Options{})
		if !bytes.Equal(a.Binary, b.Binary) {
			t.Error("the same bytes made two modules")
		}
		seen[string(a.Binary)] = true
	}
	if len(seen) != 20 {
		t.Errorf("20 inputs made %d modules", len(seen))
	}
}

func TestNoBytesMakeAModule(t *testing.T) {
	t.Parallel()
	r := host(t, wazero.NewRuntimeConfigInterpreter())
	m := New(nil, Options{})
	instance, err := r.InstantiateWithConfig(t.Context(), m.Binary, wazero.NewModuleConfig())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range m.Functions {
		if _, err := instance.ExportedFunction(name).Call(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSettledModulesGiveTheSameOnBothEngines runs modules that settle NaNs. The interpreter and the
// compiler of wazero return different bits for some NaNs; a settled module must return the same.
func TestSettledModulesGiveTheSameOnBothEngines(t *testing.T) {
	t.Parallel()
	engines := []wazero.Runtime{host(t, wazero.NewRuntimeConfigInterpreter()), host(t, wazero.NewRuntimeConfigCompiler())}
	for i, input := range inputs(100, 400) {
		m := New(input, Options{Settled: true})
		var results [2][][]uint64
		for e, r := range engines {
			instance, err := r.InstantiateWithConfig(t.Context(), m.Binary, wazero.NewModuleConfig().WithName(""))
			if err != nil {
				continue
			}
			for _, name := range m.Functions {
				result, err := instance.ExportedFunction(name).Call(t.Context())
				if err != nil && result != nil {
					t.Fatal(errors.Join(err, errors.New("a call that trapped has a result")))
				}
				results[e] = append(results[e], result)
			}
			if err := instance.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if !slices.EqualFunc(results[0], results[1], slices.Equal) {
			t.Errorf("module %d: %x on the interpreter, %x on the compiler", i, results[0], results[1])
		}
	}
}
