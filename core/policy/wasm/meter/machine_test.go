package meter

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
	"github.com/wardlet/wardlet/test/wasmtest/generate"
)

// engines are the engines on which every rule must hold.
var engines = []struct {
	name   string
	config func() wazero.RuntimeConfig
}{
	{"compiler", wazero.NewRuntimeConfigCompiler},
	{"interpreter", wazero.NewRuntimeConfigInterpreter},
}

// manyFuel is a slice that hardly any test uses up: about a second's work.
const manyFuel = 1 << 31

// errFuel and errStack are the reasons for which the host of these tests stops a call.
var (
	errFuel  = errors.New("out of fuel")
	errStack = errors.New("out of stack")
)

// machine is an instance of a metered module, and the host to which it yields.
type machine struct {
	module      api.Module
	fuel, stack api.MutableGlobal
	// slice is the fuel after each refill. limit is the most fuel that a call may use.
	slice, limit int64
	// deep raises the stack budget when it is used up. raised is the sum of the raises.
	deep   bool
	raised int64
	// refilled is the fuel added during the call. asked is the number of yields.
	refilled int64
	asked    int
	// lowest is the lowest fuel at a yield.
	lowest int64
}

type machineKey struct{}

// newRuntime returns an engine with the functions that metered and generated modules import.
func newRuntime(tb testing.TB, config wazero.RuntimeConfig) wazero.Runtime {
	tb.Helper()
	ctx := context.Background()
	r := wazero.NewRuntimeWithConfig(ctx, config.WithCoreFeatures(api.CoreFeaturesV2).WithMemoryLimitPages(64))
	tb.Cleanup(func() { _ = r.Close(ctx) })
	yield := func(ctx context.Context, guest api.Module, _ []uint64) {
		ctx.Value(machineKey{}).(*machine).yield(guest)
	}
	_, err := r.NewHostModuleBuilder(Module).NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(yield), nil, nil).Export(Yield).Instantiate(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	see := func(_ context.Context, stack []uint64) { stack[0] = uint64(generate.See(uint32(stack[0]), stack[1])) }
	_, err = r.NewHostModuleBuilder(generate.ImportModule).NewFunctionBuilder().
		WithGoFunction(api.GoFunc(see), []api.ValueType{api.ValueTypeI32, api.ValueTypeI64}, []api.ValueType{api.ValueTypeI32}).
		Export(generate.ImportName).Instantiate(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func (m *machine) yield(guest api.Module) {
	fuel, stack := counters(guest)
	has := int64(fuel.Get())
	m.asked++
	m.lowest = min(m.lowest, has)
	if left := int64(stack.Get()); left < 0 {
		if !m.deep {
			panic(errStack)
		}
		m.raised += StackBudget
		stack.Set(uint64(left + StackBudget))
	}
	switch {
	case m.used(has) > m.limit:
		panic(errFuel)
	case has < m.slice:
		m.refilled += m.slice - has
		fuel.Set(uint64(m.slice))
	}
}

func (m *machine) used(has int64) int64 { return m.refilled - has }

// counters returns the globals that the meter adds.
func counters(guest api.Module) (fuel, stack api.MutableGlobal) {
	return guest.ExportedGlobal(Fuel).(api.MutableGlobal), guest.ExportedGlobal(Stack).(api.MutableGlobal)
}

// rewritten returns a module with metering.
func rewritten(tb testing.TB, binary []byte) *Rewritten {
	tb.Helper()
	m, err := module.Parse(binary, module.Caps{})
	if err != nil {
		tb.Fatal(err)
	}
	out, err := Rewrite(tb.Context(), m, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// start instantiates a metered module. The error is that of its start function or of another
// step of the instantiation.
func (m *machine) start(tb testing.TB, r wazero.Runtime, binary []byte) error {
	tb.Helper()
	ctx := context.WithValue(context.Background(), machineKey{}, m)
	code, err := r.CompileModule(ctx, binary)
	if err != nil {
		tb.Fatalf("the metered module does not compile: %v", err)
	}
	tb.Cleanup(func() { _ = code.Close(context.Background()) })
	m.module, err = r.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return err
	}
	m.fuel, m.stack = counters(m.module)
	return nil
}

// newMachine returns a metered module on an engine, with ample fuel.
func newMachine(tb testing.TB, config wazero.RuntimeConfig, binary []byte) *machine {
	tb.Helper()
	m := &machine{slice: manyFuel, limit: 16 * manyFuel}
	if err := m.start(tb, newRuntime(tb, config), rewritten(tb, binary).Binary); err != nil {
		tb.Fatal(err)
	}
	return m
}

// call calls a function with a full stack budget. fuel is the fuel used.
func (m *machine) call(name string, params ...uint64) (results []uint64, fuel int64, err error) {
	m.stack.Set(StackBudget)
	m.fuel.Set(0)
	m.refilled, m.asked, m.raised, m.lowest = 0, 0, 0, 0
	ctx := context.WithValue(context.Background(), machineKey{}, m)
	results, err = invoke(ctx, m.module.ExportedFunction(name), params...)
	return results, m.used(int64(m.fuel.Get())), err
}

// invoke calls a function. It clears the upper half of 32-bit results, whose value is
// undefined.
func invoke(ctx context.Context, f api.Function, params ...uint64) ([]uint64, error) {
	results, err := f.Call(ctx, params...)
	if err != nil {
		return nil, err
	}
	i := 0
	for _, t := range f.Definition().ResultTypes() {
		switch t {
		case api.ValueTypeI32, api.ValueTypeF32:
			results[i] = uint64(uint32(results[i]))
		case byte(v128):
			i++
		}
		i++
	}
	return results, nil
}

// mustCall is call for a function that must not fail. The stack budget must be complete
// afterwards.
func (m *machine) mustCall(tb testing.TB, name string, params ...uint64) (results []uint64, fuel int64) {
	tb.Helper()
	results, fuel, err := m.call(name, params...)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	m.assertStack(tb, name)
	return results, fuel
}

// assertStack checks that the complete stack budget is available again.
func (m *machine) assertStack(tb testing.TB, name string) {
	tb.Helper()
	if left := int64(m.stack.Get()) - m.raised; left != StackBudget {
		tb.Errorf("after %s %d of the stack's budget are left, want %d", name, left, StackBudget)
	}
}

// trap returns the kind of a trap, "" for none.
func trap(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errFuel):
		return errFuel.Error()
	case errors.Is(err, errStack):
		return errStack.Error()
	}
	_, text, ok := strings.Cut(err.Error(), "wasm error: ")
	if !ok {
		return err.Error()
	}
	text, _, _ = strings.Cut(text, "\n")
	return text
}

// eachEngine runs a test on both engines.
func eachEngine(t *testing.T, test func(t *testing.T, config wazero.RuntimeConfig)) {
	t.Helper()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			test(t, e.config())
		})
	}
}

// both runs a function on both engines, which must return the same fuel, results and trap.
func both(t *testing.T, binary []byte, name string, params ...uint64) (results []uint64, fuel int64, trapped string) {
	t.Helper()
	for i, e := range engines {
		r, f, err := newMachine(t, e.config(), binary).call(name, params...)
		if i == 0 {
			results, fuel, trapped = r, f, trap(err)
			continue
		}
		if len(r) != len(results) || f != fuel || trap(err) != trapped {
			t.Fatalf("%s%v: %v, %d units of fuel, trap %q on the %s; %v, %d, %q on the %s", name, params,
				results, fuel, trapped, engines[0].name, r, f, trap(err), e.name)
		}
		for j := range r {
			if r[j] != results[j] {
				t.Fatalf("%s%v: result %d is %#x on the %s, %#x on the %s", name, params, j, results[j], engines[0].name, r[j], e.name)
			}
		}
	}
	return results, fuel, trapped
}

// i32 and the following are short names of the value types.
var (
	i32, i64, f32, f64, v128 = wasmtest.I32, wasmtest.I64, wasmtest.F32, wasmtest.F64, wasmtest.V128
	funcref, externref       = wasmtest.FuncRef, wasmtest.Type(module.ExternRef)
)

// types returns a list of value types.
func types(all ...wasmtest.Type) []wasmtest.Type { return all }

// op returns an instruction with indices.
func op(o module.Op, indices ...uint32) wasmtest.Code {
	out := generate.Encode(o)
	for _, i := range indices {
		out = binary.AppendUvarint(out, uint64(i))
	}
	return out
}

// enclose returns a block, loop or if. kind is 0x40 for no result, a value type, or the
// number of a function type.
func enclose(o module.Op, kind byte, body ...wasmtest.Code) wasmtest.Code {
	return wasmtest.Join(wasmtest.Code{byte(o), kind}, wasmtest.Join(body...), wasmtest.Code{byte(module.OpEnd)})
}

// elseCode and the following are instructions that package wasmtest has no names for.
var (
	elseCode  = wasmtest.Code{byte(module.OpElse)}
	opI32Mul  = wasmtest.Code{0x6c}
	emptyKind = byte(0x40)
)
