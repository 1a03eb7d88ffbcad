package wasmtest

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// instantiate runs a module without imports.
func instantiate(t *testing.T, m *Module) api.Module {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	module, err := r.Instantiate(t.Context(), m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func call(t *testing.T, module api.Module, name string, params ...uint64) int32 {
	t.Helper()
	result, err := module.ExportedFunction(name).Call(t.Context(), params...)
	if err != nil {
		t.Fatal(err)
	}
	return api.DecodeI32(result[0])
}

func TestReadyMadeModulesAreValid(t *testing.T) {
	t.Parallel()
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	for name, module := range map[string][]byte{
		"Answering":        Answering(1, "Code", "message"),
		"Merging":          Merging(-1, "Code", "message"),
		"Filtering":        Filtering(2, 5000, "Code", "message"),
		"Patching":         Patching(0, "[]"),
		"HoldingFor":       HoldingFor(5000),
		"Warning":          Warning("mind the gap"),
		"Trapping":         Trapping(),
		"TrapAtInit":       TrapAtInit(),
		"RefusingSettings": RefusingSettings("no"),
		"UnknownImport":    UnknownImport(),
		"NoHooks":          NoHooks(),
		"Drawing":          Drawing(),
		"Denying":          Denying("object.spec.@containers[*].image", "evil"),
	} {
		if _, err := r.CompileModule(t.Context(), module); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConstants(t *testing.T) {
	t.Parallel()
	for _, n := range []int32{0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, -8193, 1<<31 - 1, -1 << 31} {
		m := New()
		m.Export("f", m.Func(nil, []Type{I32}, nil, I32Const(n)))
		if got := call(t, instantiate(t, m), "f"); got != n {
			t.Errorf("I32Const(%d) pushes %d", n, got)
		}
	}
}

func TestMemoryGlobalsAndCalls(t *testing.T) {
	t.Parallel()
	m := New()
	m.Memory(1)
	m.Data(100, "\x07\x01")
	g := m.Global(I32, true, I32Const(40))
	add := m.Func([]Type{I32, I32}, []Type{I32}, nil, LocalGet(0), LocalGet(1), I32Add)
	m.Export("f", m.Func([]Type{I32}, []Type{I32}, []Type{I32},
		GlobalGet(g), LocalGet(0), Call(add), GlobalSet(g), // g += p
		I32Const(100), I32Load16(0), LocalSet(1), // 0x107
		I32Const(0), LocalGet(1), I32Store(200),
		I32Const(200), I32Load(0), I32Const(100), I32Load8(0), I32Sub, // 0x100
		GlobalGet(g), I32Add,
	))
	if got := call(t, instantiate(t, m), "f", 2); got != 0x100+42 {
		t.Errorf("f(2) = %d, want %d", got, 0x100+42)
	}
}

func TestLoopsAndBranches(t *testing.T) {
	t.Parallel()
	m := New()
	// The sum of the numbers up to the parameter, -1 for 0.
	m.Export("sum", m.Func([]Type{I32}, []Type{I32}, []Type{I32},
		LocalGet(0), I32Eqz, If(I32Const(-1), Return),
		Block(Loop(
			LocalGet(0), I32Eqz, BrIf(1),
			LocalGet(1), LocalGet(0), I32Add, LocalSet(1),
			LocalGet(0), I32Const(1), I32Sub, LocalSet(0),
			Br(0),
		)),
		LocalGet(1),
	))
	module := instantiate(t, m)
	for n, want := range map[uint64]int32{0: -1, 1: 1, 10: 55} {
		if got := call(t, module, "sum", n); got != want {
			t.Errorf("sum(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestStartRuns(t *testing.T) {
	t.Parallel()
	m := New()
	g := m.Global(I32, true, I32Const(0))
	m.Start(m.Func(nil, nil, nil, I32Const(9), GlobalSet(g)))
	m.Export("f", m.Func(nil, []Type{I32}, nil, GlobalGet(g)))
	if got := call(t, instantiate(t, m), "f"); got != 9 {
		t.Errorf("the start function left %d, want 9", got)
	}
}

func TestReplacedSectionsBreakAModule(t *testing.T) {
	t.Parallel()
	m := Plugin()
	m.Replace(7, []byte{1, 1, 'x', 0, 99})
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { _ = r.Close(context.Background()) })
	if _, err := r.CompileModule(t.Context(), m.Bytes()); err == nil {
		t.Error("a module that exports a function it does not have is valid")
	}
}
