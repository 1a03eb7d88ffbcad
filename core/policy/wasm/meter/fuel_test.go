package meter

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// exporting returns a module with a memory, a global, and one function "f" that has five
// locals of i32 after its parameters.
func exporting(params, results []wasmtest.Type, body ...wasmtest.Code) []byte {
	m := wasmtest.New()
	m.Memory(1)
	m.Global(i32, true, wasmtest.I32Const(0))
	m.Export("f", m.Func(params, results, types(i32, i32, i32, i32, i32), body...))
	return m.Bytes()
}

// work is code that uses fuel and changes the global.
var work = wasmtest.Join(wasmtest.GlobalGet(0), wasmtest.I32Const(3), opI32Mul, wasmtest.I32Const(1), wasmtest.I32Add, wasmtest.GlobalSet(0))

// repeated returns code that runs a body as many times as parameter or local n says.
func repeated(n uint32, body ...wasmtest.Code) wasmtest.Code {
	return wasmtest.Block(wasmtest.Loop(
		wasmtest.LocalGet(n), wasmtest.I32Eqz, wasmtest.BrIf(1),
		wasmtest.Join(body...),
		wasmtest.LocalGet(n), wasmtest.I32Const(1), wasmtest.I32Sub, wasmtest.LocalSet(n),
		wasmtest.Br(0),
	))
}

func TestALoopTakesTheSameForEachTurn(t *testing.T) {
	t.Parallel()
	binary := exporting(types(i32), nil, repeated(0, work))
	fuel := func(n uint64) int64 {
		_, fuel, _ := both(t, binary, "f", n)
		return fuel
	}
	turn := fuel(1) - fuel(0)
	if least := sum(t, work); turn <= least {
		t.Errorf("a turn takes %d, and its body alone %d", turn, least)
	}
	for _, n := range []uint64{2, 3, 10, 1000, 100_000} {
		if got, want := fuel(n), fuel(0)+int64(n)*turn; got != want {
			t.Errorf("%d turns take %d, want %d", n, got, want)
		}
	}
}

func TestALoopWithoutABodyTakesFuel(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]wasmtest.Code{
		"empty":           wasmtest.Loop(wasmtest.Br(0)),
		"in a block":      wasmtest.Loop(wasmtest.Block(wasmtest.Br(1))),
		"by br_table":     wasmtest.Loop(wasmtest.I32Const(7), op(module.OpBrTable, 2, 0, 0, 0)),
		"with parameters": wasmtest.Join(wasmtest.I32Const(1), wasmtest.Code{byte(module.OpLoop), 0}, wasmtest.Br(0), wasmtest.Code{0x0b}),
	} {
		m := wasmtest.New()
		m.Func(types(i32), nil, nil) // type 0
		m.Export("f", m.Func(nil, nil, nil, body))
		for _, e := range engines {
			machine := newMachine(t, e.config(), m.Bytes())
			machine.slice, machine.limit = 1000, 100_000
			_, fuel, err := machine.call("f")
			if !errors.Is(err, errFuel) || fuel <= machine.limit || fuel > machine.limit+2*machine.slice {
				t.Errorf("%s on the %s: %v after %d units of fuel", name, e.name, err, fuel)
			}
		}
	}
}

// TestEnteringALoopTakesFuel checks that a loop costs fuel even if its body is empty.
func TestEnteringALoopTakesFuel(t *testing.T) {
	t.Parallel()
	if _, fuel, _ := both(t, exporting(nil, nil, repeatCode(100, wasmtest.Loop())), "f"); fuel < 100 {
		t.Errorf("a hundred loops take %d", fuel)
	}
}

// TestLoopsThatAskTheHostKeepTheirVariables checks that a yield in a loop does not change
// variables, whatever their types and number.
func TestLoopsThatAskTheHostKeepTheirVariables(t *testing.T) {
	t.Parallel()
	for _, copies := range []int{1, 3, 20} { // of each type
		var locals []wasmtest.Type
		var turn wasmtest.Code // each variable depends on another
		for range copies {
			n := uint32(1 + len(locals))
			locals = append(locals, i32, i64, f32, f64, v128)
			turn = wasmtest.Join(turn,
				wasmtest.LocalGet(n), wasmtest.LocalGet(0), wasmtest.I32Add, wasmtest.I32Const(7), wasmtest.I32Add, wasmtest.LocalSet(n),
				wasmtest.LocalGet(n+1), wasmtest.LocalGet(n), op(0xad), op(opI64Add), wasmtest.LocalSet(n+1),
				wasmtest.LocalGet(n+2), wasmtest.LocalGet(n), op(0xb2), op(0x92), wasmtest.LocalSet(n+2),
				wasmtest.LocalGet(n+3), wasmtest.LocalGet(n+1), op(0xb9), op(0xa0), wasmtest.LocalSet(n+3),
				wasmtest.LocalGet(n+4), wasmtest.LocalGet(n+1), op(0xfd<<16|18), op(0xfd<<16|206), wasmtest.LocalSet(n+4),
			)
		}
		var gives wasmtest.Code
		for n := range locals {
			gives = append(gives, wasmtest.LocalGet(uint32(1+n))...)
		}
		m := wasmtest.New()
		m.Export("f", m.Func(types(i32), locals, locals, repeated(0, turn), gives))
		for _, e := range engines {
			original := plain(t, e.config(), m.Bytes())
			machine := newMachine(t, e.config(), m.Bytes())
			machine.slice = 0 // every fuel check yields to the host
			want, err := invoke(t.Context(), original.ExportedFunction("f"), 20)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := machine.mustCall(t, "f", 20); !slices.Equal(got, want) {
				t.Errorf("%d variables on the %s are %x, without the meter %x", len(locals), e.name, got, want)
			}
			if machine.asked < 20 {
				t.Errorf("the host is asked %d times", machine.asked)
			}
		}
	}
}

func TestAShortIfIsTakenWithWhatIsAroundIt(t *testing.T) {
	t.Parallel()
	add := wasmtest.Join(wasmtest.I32Const(1), wasmtest.Drop)
	for name, test := range map[string]struct {
		code   wasmtest.Code
		differ int64 // the extra fuel if the condition is true
	}{
		"as long as it may be":         {wasmtest.If(repeatCode(20, add)), 0},
		"longer":                       {wasmtest.If(repeatCode(20, add), op(module.OpMemorySize, 0), wasmtest.Drop), 42},
		"with an else, both short":     {enclose(module.OpIf, emptyKind, repeatCode(10, add), elseCode, repeatCode(10, add)), 0},
		"with an else, together long":  {enclose(module.OpIf, emptyKind, repeatCode(11, add), elseCode, repeatCode(10, add)), 2},
		"one in another":               {wasmtest.If(wasmtest.I32Const(1), wasmtest.If(repeatCode(19, add))), 0},
		"one in another, too long":     {wasmtest.If(repeatCode(12, add), wasmtest.I32Const(1), wasmtest.If(repeatCode(12, add))), 50},
		"with a loop":                  {wasmtest.If(wasmtest.Loop(add)), 3},
		"with a call that may be deep": {wasmtest.If(wasmtest.Call(1), wasmtest.I32Const(0), wasmtest.I32Load(0), wasmtest.Drop), 4 + 4 + 4},
		"with a call that is not":      {wasmtest.If(wasmtest.Call(2), wasmtest.I32Const(0), wasmtest.I32Load(0), wasmtest.Drop), 0},
	} {
		m := wasmtest.New()
		m.Memory(1)
		m.Export("f", m.Func(types(i32), nil, nil, add, wasmtest.LocalGet(0), test.code, add))
		m.Func(nil, nil, nil, wasmtest.Call(2))
		m.Func(nil, nil, nil)
		_, done, _ := both(t, m.Bytes(), "f", 1)
		_, not, _ := both(t, m.Bytes(), "f", 0)
		if done-not != test.differ {
			t.Errorf("an if %s: %d done and %d not, want %d more", name, done, not, test.differ)
		}
	}
}

func TestNestedLoopsMultiply(t *testing.T) {
	t.Parallel()
	set := wasmtest.Join(wasmtest.LocalGet(1), wasmtest.LocalSet(2))
	binary := exporting(types(i32, i32), nil, repeated(0, set, repeated(2, work)))
	fuel := func(n, m uint64) int64 {
		_, fuel, _ := both(t, binary, "f", n, m)
		return fuel
	}
	outer, inner := fuel(1, 0)-fuel(0, 0), fuel(1, 1)-fuel(1, 0)
	for _, c := range [][2]uint64{{2, 3}, {7, 1}, {5, 40}, {100, 100}} {
		if got, want := fuel(c[0], c[1]), fuel(0, 0)+int64(c[0])*(outer+int64(c[1])*inner); got != want {
			t.Errorf("%d times %d turns take %d, want %d", c[0], c[1], got, want)
		}
	}
}

func TestAnIfTakesWhatItsBranchTakes(t *testing.T) {
	t.Parallel()
	long := repeatCode(10, work)
	both2 := exporting(types(i32), nil, wasmtest.LocalGet(0), enclose(module.OpIf, emptyKind, long, elseCode, work), work)
	_, then, _ := both(t, both2, "f", 1)
	_, other, _ := both(t, both2, "f", 0)
	if then-other != 9*sum(t, work) {
		t.Errorf("the branches take %d and %d, want %d more", then, other, 9*sum(t, work))
	}
	single := exporting(types(i32), nil, wasmtest.LocalGet(0), wasmtest.If(long), work)
	_, then, _ = both(t, single, "f", 1)
	_, other, _ = both(t, single, "f", 0)
	if then-other != sum(t, long) {
		t.Errorf("with the if it takes %d, without %d, want %d more", then, other, sum(t, long))
	}
}

// TestBranchesTakeTheWayTheyGo checks that the code after a block is charged once, whether a
// branch or the end of the block leads there.
func TestBranchesTakeTheWayTheyGo(t *testing.T) {
	t.Parallel()
	// Three blocks: 0 leaves the innermost, 1 leaves two, and above 1 leaves all three. Each
	// end is followed by other work.
	table := exporting(types(i32), nil,
		wasmtest.Block(wasmtest.Block(wasmtest.Block(
			wasmtest.LocalGet(0), op(module.OpBrTable, 2, 0, 1, 2),
		), work), work, work), work, work, work, work)
	fuel := func(n uint64) int64 {
		_, fuel, _ := both(t, table, "f", n)
		return fuel
	}
	one := sum(t, work)
	for n, want := range map[uint64]int64{0: fuel(9) + 3*one, 1: fuel(9) + 2*one, 2: fuel(9)} {
		if got := fuel(n); got != want {
			t.Errorf("by label %d it takes %d, want %d", n, got, want)
		}
	}
	early := exporting(types(i32), nil, wasmtest.Block(wasmtest.LocalGet(0), wasmtest.BrIf(0), wasmtest.Loop(work)), work)
	_, taken, _ := both(t, early, "f", 1)
	_, not, _ := both(t, early, "f", 0)
	if not-taken < sum(t, work) {
		t.Errorf("leaving takes %d, staying %d: want at least %d less", taken, not, sum(t, work))
	}
}

func TestACallTakesWhatIsCalledTakes(t *testing.T) {
	t.Parallel()
	m := wasmtest.New(wasmtest.Import{Module: "test", Name: "see", Params: types(i32, i64), Results: types(i32)})
	m.Global(i32, true, wasmtest.I32Const(0))
	leaf := m.Func(types(i32), nil, nil, wasmtest.LocalGet(0), wasmtest.If(work), work)
	m.Export("leaf", leaf)
	m.Export("twice", m.Func(types(i32), nil, nil, wasmtest.LocalGet(0), wasmtest.Call(leaf), wasmtest.I32Const(0), wasmtest.Call(leaf)))
	m.Export("host", m.Func(nil, nil, nil, wasmtest.I32Const(0), wasmtest.I64Const(0), wasmtest.Call(0), wasmtest.Drop))
	m.Replace(4, []byte{1, 0x70, 0, 1})
	m.Replace(9, []byte{1, 0, 0x41, 0, 0x0b, 1, byte(leaf)})
	m.Export("through", m.Func(types(i32), nil, nil, wasmtest.LocalGet(0), wasmtest.I32Const(0),
		op(module.OpCallIndirect, typeOf(t, m, leaf), 0)))
	binary := m.Bytes()
	fuel := func(name string, params ...uint64) int64 {
		_, fuel, _ := both(t, binary, name, params...)
		return fuel
	}
	for n := range uint64(2) {
		get, zero := Weight(module.OpLocalGet), Weight(module.OpI32Const)
		want := get + zero + 2*Weight(module.OpCall) + fuel("leaf", n) + fuel("leaf", 0)
		if got := fuel("twice", n); got != want {
			t.Errorf("two calls take %d, want %d", got, want)
		}
		want = get + zero + Weight(module.OpCallIndirect) + fuel("leaf", n)
		if got := fuel("through", n); got != want {
			t.Errorf("a call through the table takes %d, want %d", got, want)
		}
	}
	want := Weight(module.OpI32Const) + Weight(module.OpI64Const) + Weight(module.OpCall) + Weight(module.OpDrop)
	if got := fuel("host"); got != want {
		t.Errorf("a call of the host takes %d, want %d", got, want)
	}
}

// typeOf returns the type number of a function in an unfinished module.
func typeOf(t *testing.T, m *wasmtest.Module, f wasmtest.Func) uint32 {
	t.Helper()
	parsed, err := module.Parse(m.Bytes(), module.Caps{})
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Functions[f]
}

// costly returns a module whose function "f" uses fuel in every possible way.
func costly() []byte {
	m := wasmtest.New()
	m.Memory(8)
	m.Global(i32, true, wasmtest.I32Const(0))
	helper := m.Func(types(i32), types(i32), nil, wasmtest.LocalGet(0), wasmtest.If(work), wasmtest.GlobalGet(0))
	m.Export("f", m.Func(types(i32), nil, types(i32),
		repeated(0, wasmtest.LocalGet(0), wasmtest.Call(helper), wasmtest.LocalSet(1), wasmtest.Block(
			wasmtest.LocalGet(1), wasmtest.I32Const(3), wasmtest.Code{0x71}, op(module.OpBrTable, 1, 0, 0), work,
		)),
		wasmtest.I32Const(0), wasmtest.I32Const(9), wasmtest.I32Const(200_000), op(module.OpMemoryFill, 0),
		wasmtest.I32Const(1), wasmtest.I32Const(0), wasmtest.I32Const(200_001), op(module.OpMemoryCopy, 0, 0),
		wasmtest.I32Const(1), wasmtest.MemoryGrow, wasmtest.Drop,
	))
	return m.Bytes()
}

func TestFuelDoesNotDependOnHowItIsRefilled(t *testing.T) {
	t.Parallel()
	binary := costly()
	_, want, _ := both(t, binary, "f", 500)
	eachEngine(t, func(t *testing.T, config wazero.RuntimeConfig) {
		t.Helper()
		asked := math.MaxInt
		for _, slice := range []int64{0, 1, 7, 1000, 100_000, 1_000_000_000} {
			m := newMachine(t, config, binary)
			m.slice = slice
			if _, fuel := m.mustCall(t, "f", 500); fuel != want {
				t.Errorf("with slices of %d it takes %d, want %d", slice, fuel, want)
			}
			if m.asked > asked {
				t.Errorf("with slices of %d the host is asked %d times, with smaller ones %d times", slice, m.asked, asked)
			}
			asked = m.asked
		}
	})
}

func TestACallTreeWithoutLoopsEnds(t *testing.T) {
	t.Parallel()
	m := wasmtest.New()
	f := m.Func(nil, nil, nil)
	for range 40 { // each function calls the previous one twice
		f = m.Func(nil, nil, nil, wasmtest.Call(f), wasmtest.Call(f))
	}
	m.Export("f", f)
	eachEngine(t, func(t *testing.T, config wazero.RuntimeConfig) {
		t.Helper()
		machine := newMachine(t, config, m.Bytes())
		machine.slice, machine.limit = 10_000, 1_000_000
		if _, fuel, err := machine.call("f"); !errors.Is(err, errFuel) || fuel > machine.limit+2*machine.slice {
			t.Errorf("%v after %d units of fuel", err, fuel)
		}
	})
}

// lowest runs a function with slices of 0, and returns the lowest fuel, below zero, at a
// yield or at the end.
func lowest(t *testing.T, binary []byte) int64 {
	t.Helper()
	m := newMachine(t, wazero.NewRuntimeConfigInterpreter(), binary) // the compiler takes seconds for such code
	m.slice = 0
	if _, fuel := m.mustCall(t, "f"); fuel == 0 {
		t.Error("it takes no fuel")
	}
	return min(m.lowest, int64(m.fuel.Get()))
}

// asMany is about the number of instructions that a function may have.
const asMany = 32_000

// assertCut checks that no more fuel is used between yields than the meter promises.
func assertCut(t *testing.T, name string, body wasmtest.Code) {
	t.Helper()
	if low := lowest(t, exporting(nil, nil, body)); low < -(uncheckedFuel + 2*longestBlock) {
		t.Errorf("%s: %d units of fuel were taken before the host was asked", name, -low)
	}
}

func TestLongCodeIsCut(t *testing.T) {
	t.Parallel()
	for name, piece := range map[string]wasmtest.Code{
		"in a row":  wasmtest.Join(wasmtest.GlobalGet(0), wasmtest.Drop),
		"divisions": wasmtest.Join(wasmtest.I32Const(5), wasmtest.I32Const(3), wasmtest.I32DivU, wasmtest.Drop),
		"in ifs":    wasmtest.Join(wasmtest.I32Const(1), wasmtest.If(wasmtest.GlobalGet(0), wasmtest.Drop)),
		"in blocks": wasmtest.Block(wasmtest.I32Const(0), wasmtest.BrIf(0), wasmtest.GlobalGet(0), wasmtest.Drop),
	} {
		assertCut(t, name, repeatCode(asMany, piece))
	}
}

func TestARowOfTeesIsCut(t *testing.T) {
	t.Parallel()
	assertCut(t, "local.tee", wasmtest.Join(wasmtest.I32Const(1), repeatCode(asMany, op(module.OpLocalTee, 0)), wasmtest.Drop))
}

// TestARowOfTouchesIsLookedAtOften checks that memory accesses yield often: each may cause a
// page fault, which takes 0.5 to 2 µs that no fuel pays for.
func TestARowOfTouchesIsLookedAtOften(t *testing.T) {
	t.Parallel()
	const touching = 3200
	three := wasmtest.Join(wasmtest.I32Const(0), wasmtest.I32Const(8), wasmtest.I32Const(1))
	for name, test := range map[string]struct {
		piece wasmtest.Code
		each  int
	}{
		"loads":       {wasmtest.Join(wasmtest.I32Const(0), wasmtest.I32Load(0), wasmtest.Drop), 1},
		"stores":      {wasmtest.Join(wasmtest.I32Const(0), wasmtest.I32Const(1), wasmtest.I32Store(0)), 2},
		"bytes":       {wasmtest.Join(wasmtest.I32Const(0), wasmtest.I32Load8(0), wasmtest.Drop), 1},
		"short fills": {wasmtest.Join(three, op(module.OpMemoryFill, 0)), 6},
		"short moves": {wasmtest.Join(three, op(module.OpMemoryCopy, 0, 0)), 6},
	} {
		for way, body := range map[string]wasmtest.Code{
			"in a row": repeatCode(touching, test.piece),
			"in ifs":   repeatCode(touching, wasmtest.Join(wasmtest.I32Const(1), wasmtest.If(test.piece))),
		} {
			m := newMachine(t, wazero.NewRuntimeConfigInterpreter(), exporting(nil, nil, body))
			m.slice = 0
			m.mustCall(t, "f")
			if least := touching * test.each / (longestTouches + uncheckedTouches); m.asked < least {
				t.Errorf("%s %s: the host was asked %d times for %d, want at least %d", name, way, m.asked, touching, least)
			}
		}
	}
}

// TestALookOnAnotherWayDoesNotCount checks that a fuel check that a branch skips does not
// replace another check.
func TestALookOnAnotherWayDoesNotCount(t *testing.T) {
	t.Parallel()
	const pieces = 200
	load := wasmtest.Join(wasmtest.I32Const(0), wasmtest.I32Load(0), wasmtest.Drop)
	never := wasmtest.Join(wasmtest.I32Const(0), wasmtest.If(wasmtest.Loop())) // a loop begins with a fuel check
	for name, piece := range map[string]wasmtest.Code{
		"an if":             wasmtest.Join(repeatCode(31, load), never),
		"a block":           wasmtest.Join(repeatCode(31, load), wasmtest.Block(wasmtest.I32Const(1), wasmtest.BrIf(0), wasmtest.Loop())),
		"a block of blocks": wasmtest.Block(wasmtest.Block(repeatCode(31, load), wasmtest.I32Const(0), op(module.OpBrTable, 1, 1, 0)), wasmtest.Loop()),
	} {
		m := newMachine(t, wazero.NewRuntimeConfigInterpreter(), exporting(nil, nil, repeatCode(pieces, piece)))
		m.slice = 0
		m.mustCall(t, "f")
		if least := pieces * 31 / (longestTouches + uncheckedTouches); m.asked < least {
			t.Errorf("%s: the host was asked %d times for %d loads, want at least %d", name, m.asked, pieces*31, least)
		}
	}
}
