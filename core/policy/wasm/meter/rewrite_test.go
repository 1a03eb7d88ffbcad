package meter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
	"github.com/wardlet/wardlet/test/wasmtest/generate"
	"github.com/wardlet/wardlet/test/wasmtest/worst"
)

func parsed(tb testing.TB, binary []byte) *module.Module {
	tb.Helper()
	m, err := module.Parse(binary, module.Caps{})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func TestMutableNumbersAreExported(t *testing.T) {
	t.Parallel()
	m := wasmtest.New()
	m.Memory(1)
	m.Global(i32, true, wasmtest.I32Const(-7))
	m.Global(i32, false, wasmtest.I32Const(1))
	m.Global(v128, true, zeroOf[v128])
	m.Global(i64, true, wasmtest.I64Const(1<<40))
	m.Global(funcref, true, zeroOf[funcref])
	m.Global(f32, true, wasmtest.Code{0x43, 0, 0, 0x80, 0x3f})
	m.Global(externref, false, zeroOf[externref])
	m.Global(f64, true, wasmtest.Code{0x44, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f})
	m.Export("f", m.Func(nil, types(i32), nil, wasmtest.GlobalGet(0)))
	out := rewritten(t, m.Bytes())
	want := []string{"wardlet:global:0", "wardlet:global:3", "wardlet:global:5", "wardlet:global:7"}
	if diff := cmp.Diff(want, out.Globals); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, e := range engines {
		machine := newMachine(t, e.config(), m.Bytes())
		for i, value := range []uint64{uint64(uint32(math.MaxUint32 - 6)), 1 << 40, 0x3f800000, 0x3ff0000000000000} {
			g, ok := machine.module.ExportedGlobal(out.Globals[i]).(api.MutableGlobal)
			if !ok || g.Get() != value {
				t.Errorf("%s on the %s is %v, want %#x", out.Globals[i], e.name, g, value)
			}
		}
		machine.module.ExportedGlobal(out.Globals[0]).(api.MutableGlobal).Set(99)
		if got, _ := machine.mustCall(t, "f"); got[0] != 99 {
			t.Errorf("what is set on the %s is not what is read: %d", e.name, got[0])
		}
	}
}

func TestTheBudgetsBeginAsSaid(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		m := newMachine(t, e.config(), exporting(nil, nil))
		if fuel, stack := m.fuel.Get(), m.stack.Get(); fuel != 0 || stack != StackBudget {
			t.Errorf("on the %s fuel begins with %d, the stack with %d", e.name, fuel, stack)
		}
	}
}

// numbered returns a module with function numbers in all places: imports, calls, references
// in code, globals and elements of all eight kinds, exports and the start. Function n returns
// n; the start sets global 0.
func numbered() []byte {
	see := wasmtest.Import{Module: "test", Name: "see", Params: types(i32, i64), Results: types(i32)}
	m := wasmtest.New(see, see)
	m.Memory(1)
	m.Global(i32, true, wasmtest.I32Const(0))
	m.Global(funcref, false, wasmtest.Code{0xd2, 4})
	for n := range int32(8) { // functions 2 to 9
		m.Func(nil, types(i32), nil, wasmtest.I32Const(n+2))
	}
	m.Start(m.Func(nil, nil, nil, wasmtest.Call(7), wasmtest.GlobalSet(0)))
	m.Export("started", m.Func(nil, types(i32), nil, wasmtest.GlobalGet(0)))
	m.Export("at0", m.Func(types(i32), types(i32), nil, wasmtest.LocalGet(0), op(module.OpCallIndirect, 0, 0)))
	m.Export("at1", m.Func(types(i32), types(i32), nil, wasmtest.LocalGet(0), op(module.OpCallIndirect, 0, 1)))
	m.Export("put", m.Func(nil, nil, nil,
		wasmtest.I32Const(30), op(module.OpRefFunc, 9), op(module.OpTableSet, 0), wasmtest.I32Const(31), wasmtest.GlobalGet(1), op(module.OpTableSet, 0)))
	for n := range uint32(3) {
		m.Export(fmt.Sprint("init", n), m.Func(types(i32), nil, nil,
			wasmtest.LocalGet(0), wasmtest.I32Const(0), wasmtest.I32Const(1), op(module.OpTableInit, []uint32{1, 5, 3}[n], 0)))
	}
	m.Export("seen", m.Func(nil, types(i32), nil, wasmtest.I32Const(5), wasmtest.I64Const(6), wasmtest.Call(1)))
	m.Export("imported", 1)
	m.Export("two", 2)
	m.Replace(4, []byte{2, 0x70, 0, 40, 0x70, 0, 10})
	m.Replace(9, slices.Concat([]byte{8},
		[]byte{0, 0x41, 0, 0x0b, 2, 2, 3},
		[]byte{1, 0, 2, 4, 5},
		[]byte{2, 1, 0x41, 1, 0x0b, 0, 2, 6, 7},
		[]byte{3, 0, 1, 8},
		[]byte{4, 0x41, 10, 0x0b, 2, 0xd2, 9, 0x0b, 0xd0, 0x70, 0x0b},
		[]byte{5, 0x70, 2, 0xd2, 2, 0x0b, 0xd2, 3, 0x0b},
		[]byte{6, 1, 0x41, 5, 0x0b, 0x70, 1, 0xd2, 8, 0x0b},
		[]byte{7, 0x70, 1, 0xd2, 9, 0x0b},
	))
	return m.Bytes()
}

func TestFunctionsKeepTheirPlaces(t *testing.T) {
	t.Parallel()
	binary := numbered()
	for _, e := range engines {
		metered, original := newMachine(t, e.config(), binary), plain(t, e.config(), binary)
		step := func(name string, params ...uint64) {
			t.Helper()
			got, _, err := metered.call(name, params...)
			want, plainErr := invoke(t.Context(), original.ExportedFunction(name), params...)
			if trap(err) != trap(plainErr) || !slices.Equal(got, want) {
				t.Errorf("%s%d on the %s: %d, trap %q; without the meter %d, %q", name, params, e.name, got, trap(err), want, trap(plainErr))
			}
		}
		if got, _ := metered.mustCall(t, "started"); got[0] != 7 {
			t.Errorf("the start function set %d on the %s", got[0], e.name)
		}
		for _, name := range []string{"started", "seen", "two", "put"} {
			step(name)
		}
		step("imported", 3, 4)
		step("init0", 20)
		step("init1", 22)
		step("init2", 24) // a declared segment counts as dropped
		for table := range 2 {
			for i := range uint64(41) {
				step(fmt.Sprint("at", table), i)
			}
		}
		if got, _ := metered.mustCall(t, "at0", 30); got[0] != 9 {
			t.Errorf("ref.func 9 is function %d on the %s", got[0], e.name)
		}
		if got, _ := metered.mustCall(t, "at0", 31); got[0] != 4 {
			t.Errorf("the global's function 4 is %d on the %s", got[0], e.name)
		}
	}
}

// TestImportedMemoriesTablesAndGlobalsStay checks that Rewrite supports imports other than
// functions; only package verify refuses them.
func TestImportedMemoriesTablesAndGlobalsStay(t *testing.T) {
	t.Parallel()
	provider := wasmtest.New()
	provider.Memory(1)
	provider.Global(i32, true, wasmtest.I32Const(40))
	provider.Func(nil, types(i32), nil, wasmtest.I32Const(77))
	provider.Replace(4, []byte{1, 0x70, 0, 5})
	provider.Replace(9, []byte{1, 0, 0x41, 2, 0x0b, 1, 0})
	provider.Replace(7, []byte("\x03\x01m\x02\x00\x01t\x01\x00\x01g\x03\x00"))
	m := wasmtest.New()
	m.Global(i64, true, wasmtest.I64Const(5))
	m.Export("f", m.Func(nil, types(i32, i64), nil,
		wasmtest.GlobalGet(0), wasmtest.I32Const(1), wasmtest.I32Add, wasmtest.GlobalSet(0),
		wasmtest.I32Const(16), wasmtest.I32Const(2), op(module.OpCallIndirect, 1, 0), wasmtest.I32Store(0),
		wasmtest.I32Const(0), wasmtest.I32Const(3), wasmtest.I32Const(4), op(module.OpMemoryFill, 0),
		wasmtest.GlobalGet(0), wasmtest.GlobalGet(1)))
	m.Func(nil, types(i32), nil, wasmtest.I32Const(0)) // defines the type
	m.Replace(2, []byte("\x03\x01p\x01m\x02\x00\x01\x01p\x01t\x01\x70\x00\x05\x01p\x01g\x03\x7f\x01"))
	binary := m.Bytes()
	eachEngine(t, func(t *testing.T, config wazero.RuntimeConfig) {
		t.Helper()
		r := newRuntime(t, config)
		shared, err := r.InstantiateWithConfig(t.Context(), provider.Bytes(), wazero.NewModuleConfig().WithName("p"))
		if err != nil {
			t.Fatal(err)
		}
		out := rewritten(t, binary)
		if !slices.Equal(out.Globals, []string{"wardlet:global:1"}) {
			t.Errorf("globals %q", out.Globals)
		}
		machine := &machine{slice: manyFuel, limit: manyFuel}
		if err := machine.start(t, r, out.Binary); err != nil {
			t.Fatal(err)
		}
		if got, _ := machine.mustCall(t, "f"); got[0] != 41 || got[1] != 5 {
			t.Errorf("it gives %d", got)
		}
		view, _ := shared.Memory().Read(0, 20)
		if want := slices.Concat([]byte{3, 3, 3, 3}, make([]byte, 12), []byte{77, 0, 0, 0}); !bytes.Equal(view, want) {
			t.Errorf("the memory holds %x, want %x", view, want)
		}
		if got := shared.ExportedGlobal("g").Get(); got != 41 {
			t.Errorf("the global is %d", got)
		}
	})
}

// TestWhatAModuleHasIsKept checks that a rewritten module is readable and has the same
// exports and imports, and that the original bytes are unchanged.
func TestWhatAModuleHasIsKept(t *testing.T) {
	t.Parallel()
	for i, input := range randomBytes(30, 300) {
		binary := generate.New(input, generate.Options{}).Binary
		before := bytes.Clone(binary)
		m := parsed(t, binary)
		out, err := Rewrite(t.Context(), m, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(binary, before) {
			t.Fatalf("module %d was changed", i)
		}
		if diff := cmp.Diff(parsed(t, before).Exports, m.Exports); diff != "" {
			t.Fatalf("module %d was changed: %s", i, diff)
		}
		is := parsed(t, out.Binary)
		if got := is.Imports[len(m.Imports)]; got.Module != Module || got.Name != Yield || len(is.Imports) != len(m.Imports)+1 {
			t.Errorf("module %d imports %+v after what it did", i, is.Imports[len(m.Imports):])
		}
		for _, e := range m.Exports {
			want := e.Index
			if e.Kind == module.KindFunction && int(want) >= m.ImportedFunctions {
				want++
			}
			if got := is.Export(e.Name); got == nil || got.Kind != e.Kind || got.Index != want {
				t.Errorf("module %d exports %s as %+v, want %s %d", i, e.Name, got, e.Kind, want)
			}
		}
		if again, err := Rewrite(t.Context(), m, 0); err != nil || !bytes.Equal(again.Binary, out.Binary) {
			t.Errorf("module %d rewritten twice gives two modules", i)
		}
	}
}

func TestAModuleOfNothingIsMetered(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		m := &machine{slice: manyFuel, limit: manyFuel}
		if err := m.start(t, newRuntime(t, e.config()), rewritten(t, []byte("\x00asm\x01\x00\x00\x00")).Binary); err != nil {
			t.Errorf("on the %s: %v", e.name, err)
		}
	}
}

func TestCodeThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	m := wasmtest.New()
	m.Func(nil, nil, nil)
	m.Func(nil, nil, nil, wasmtest.Code{0xff})
	_, err := Rewrite(t.Context(), parsed(t, m.Bytes()), 0)
	fault, ok := errors.AsType[*module.Fault](err)
	if !ok || fault.Index != 1 || fault.What != "instruction 0xff is not supported" {
		t.Errorf("error %v", err)
	}
}

func TestCodeThatBecomesTooLongIsRefused(t *testing.T) {
	t.Parallel()
	m := wasmtest.New()
	for range 10 {
		m.Func(nil, nil, nil, repeatCode(10, wasmtest.Loop()))
	}
	_, err := Rewrite(t.Context(), parsed(t, m.Bytes()), 1000)
	fault, ok := errors.AsType[*module.Fault](err)
	if !ok || fault.Section != "code" || !strings.Contains(fault.What, "more than 1000 bytes") {
		t.Fatalf("error %v", err)
	}
	if out, err := Rewrite(t.Context(), parsed(t, m.Bytes()), 1<<20); err != nil || len(out.Binary) < 1000 {
		t.Errorf("with room for it: %v", err)
	}
}

// TestRewrite_codeThatGrowsManyTimesIsRefused checks that short code whose rewriting would be
// very long is refused early, both in the module's functions and in added ones.
func TestRewrite_codeThatGrowsManyTimesIsRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"functions of loops in loops with variables", "ranges of many segments"} {
		var module []byte
		for _, family := range worst.All() {
			if family.Name == name {
				module = family.Module(worst.Full)
			}
		}
		_, err := Rewrite(t.Context(), parsed(t, module), 8<<20)
		if err == nil || !strings.Contains(err.Error(), "the code has more than") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTheMetersNamesCannotBeTaken checks that a plugin that uses one of the meter's names
// does not compile.
func TestTheMetersNamesCannotBeTaken(t *testing.T) {
	t.Parallel()
	for _, name := range []string{Fuel, Stack, Global + "0"} {
		m := wasmtest.New()
		m.Global(i32, true, wasmtest.I32Const(0))
		m.Export(name, m.Func(nil, nil, nil))
		r := newRuntime(t, wazero.NewRuntimeConfigInterpreter())
		if _, err := r.CompileModule(context.Background(), rewritten(t, m.Bytes()).Binary); err == nil {
			t.Errorf("a module that exports %s itself compiles", name)
		}
	}
}

// TestAPluginThatAsksTheHostItselfGetsNothing checks that a plugin that imports yield and
// calls it gains no fuel.
func TestAPluginThatAsksTheHostItselfGetsNothing(t *testing.T) {
	t.Parallel()
	m := wasmtest.New(wasmtest.Import{Module: Module, Name: Yield})
	m.Global(i32, true, wasmtest.I32Const(0))
	m.Export("f", m.Func(types(i32), nil, nil, repeated(0, wasmtest.Call(0))))
	for _, e := range engines {
		machine := newMachine(t, e.config(), m.Bytes())
		machine.slice, machine.limit = 1000, 50_000
		if _, _, err := machine.call("f", 1_000_000); !errors.Is(err, errFuel) {
			t.Errorf("on the %s: %v", e.name, err)
		}
	}
}
