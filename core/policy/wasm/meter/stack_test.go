package meter

import (
	"errors"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// depthOf calls a function "f" that calls itself without end and counts the calls in global
// 0. It returns the depth that was reached.
func depthOf(t *testing.T, config wazero.RuntimeConfig, binary []byte) int64 {
	t.Helper()
	m := newMachine(t, config, binary)
	if _, _, err := m.call("f"); !errors.Is(err, errStack) {
		t.Fatalf("the recursion ends with %v", err)
	}
	return int64(m.module.ExportedGlobal(globalName(0)).Get())
}

// counting adds one to global 0.
var counting = wasmtest.Join(wasmtest.GlobalGet(0), wasmtest.I32Const(1), wasmtest.I32Add, wasmtest.GlobalSet(0))

// recursive returns a module with a function that calls itself, with locals and with operands
// on the stack around the call. size is the length of the function's body.
func recursive(t *testing.T, params, results, locals []wasmtest.Type, before, after wasmtest.Code) (binary []byte, size int64) {
	t.Helper()
	m := wasmtest.New()
	m.Memory(1)
	m.Global(i32, true, wasmtest.I32Const(0))
	code := wasmtest.Code(nil)
	for i := range params {
		code = append(code, wasmtest.LocalGet(uint32(i))...)
	}
	f := m.Func(params, results, locals, counting, before, code, wasmtest.Call(0), after)
	body := wasmtest.Code(nil)
	for _, p := range params {
		body = append(body, zeroOf[p]...)
	}
	body = append(append(body, wasmtest.Call(f)...), dropped(len(results))...)
	m.Export("f", m.Func(nil, nil, nil, body))
	parsed, err := module.Parse(m.Bytes(), module.Caps{})
	if err != nil {
		t.Fatal(err)
	}
	return m.Bytes(), int64(parsed.Bodies[0].Size)
}

func dropped(n int) (code wasmtest.Code) {
	for range n {
		code = append(code, wasmtest.Drop...)
	}
	return code
}

// zeroOf has code that pushes a zero of each type.
var zeroOf = map[wasmtest.Type]wasmtest.Code{
	i32: wasmtest.I32Const(0), i64: wasmtest.I64Const(0), f32: {0x43, 0, 0, 0, 0}, f64: {0x44, 0, 0, 0, 0, 0, 0, 0, 0},
	v128: wasmtest.Join(op(module.OpV128Const), make(wasmtest.Code, 16)), funcref: {0xd0, 0x70}, externref: {0xd0, 0x6f},
}

func list(n int, t wasmtest.Type) (all []wasmtest.Type) {
	for range n {
		all = append(all, t)
	}
	return all
}

func repeatCode(n int, pieces ...wasmtest.Code) (all wasmtest.Code) {
	for range n {
		all = append(all, wasmtest.Join(pieces...)...)
	}
	return all
}

func TestRecursionEndsAtItsBytes(t *testing.T) {
	t.Parallel()
	vectorLoads := repeatCode(200, wasmtest.I32Const(0), op(0xfd<<16, 0, 0))
	for name, test := range map[string]struct {
		params, results, locals []wasmtest.Type
		before, after           wasmtest.Code
		// slots is the number of parameters, results, variables and operands on the highest
		// stack. each is the size of one of them in bytes.
		slots, each int64
	}{
		"nothing":            {slots: 2, each: 8},
		"many variables":     {locals: list(900, i64), slots: 902, each: 8},
		"small variables":    {locals: list(900, i32), slots: 902, each: 8},
		"parameters":         {params: list(60, f64), locals: list(300, f32), slots: 420, each: 8},
		"results":            {results: list(60, i64), after: nil, locals: list(300, i64), slots: 420, each: 8},
		"vectors":            {locals: list(300, v128), slots: 302, each: 16},
		"a vector":           {locals: append(list(299, i32), v128), slots: 302, each: 16},
		"a vector parameter": {params: types(v128), locals: list(300, i32), slots: 303, each: 16},
		"operands":           {before: repeatCode(500, wasmtest.I32Const(0)), after: dropped(500), slots: 500, each: 8},
		"operands of vectors": {
			before: repeatCode(200, zeroOf[v128]), after: dropped(200), slots: 200, each: 16,
		},
		"vectors that are loaded": {before: vectorLoads, after: dropped(200), slots: 200, each: 16},
		"long code":               {before: repeatCode(3000, wasmtest.GlobalGet(0), wasmtest.Drop), slots: 2, each: 8},
	} {
		binary, size := recursive(t, test.params, test.results, test.locals, test.before, test.after)
		frame := max(MinFrame, test.each*test.slots+size)
		// The calling function has the smallest possible frame.
		want := (StackBudget - MinFrame) / frame
		if name == "parameters" || name == "results" || name == "a vector parameter" {
			want = -1 // the calling function has a larger frame
		}
		for _, e := range engines {
			got := depthOf(t, e.config(), binary)
			if want >= 0 && got != want {
				t.Errorf("%s on the %s: %d calls deep, want %d", name, e.name, got, want)
			}
			if most := StackBudget / frame; got > most || got < most-3 {
				t.Errorf("%s on the %s: %d calls deep, want about %d", name, e.name, got, most)
			}
		}
	}
}

func TestCallsAreAtMost1024Deep(t *testing.T) {
	t.Parallel()
	if StackBudget/MinFrame != 1024 {
		t.Errorf("%d calls fit into the budget", StackBudget/MinFrame)
	}
	one := func(call wasmtest.Code) []byte {
		m := wasmtest.New()
		m.Global(i32, true, wasmtest.I32Const(0))
		m.Replace(4, []byte{1, 0x70, 0, 1})
		m.Replace(9, []byte{1, 0, 0x41, 0, 0x0b, 1, 0})
		m.Func(nil, nil, nil, counting, wasmtest.I32Const(0), op(module.OpCallIndirect, 0, 0))
		m.Export("f", m.Func(nil, nil, nil, counting, call))
		return m.Bytes()
	}
	for name, binary := range map[string][]byte{
		"itself":          one(wasmtest.Call(1)),
		"through a table": one(wasmtest.Call(0)),
		"by turns": func() []byte {
			m := wasmtest.New()
			m.Global(i32, true, wasmtest.I32Const(0))
			m.Func(nil, nil, nil, counting, wasmtest.Call(1))
			m.Func(nil, nil, nil, counting, wasmtest.Call(2))
			m.Export("f", m.Func(nil, nil, nil, counting, wasmtest.Call(0)))
			return m.Bytes()
		}(),
	} {
		for _, e := range engines {
			if got := depthOf(t, e.config(), binary); got != 1024 {
				t.Errorf("%s on the %s: %d calls deep", name, e.name, got)
			}
		}
	}
}

func TestTheStackIsWholeAgainAfterEveryWayOut(t *testing.T) {
	t.Parallel()
	two, mixed := types(i32, i64), types(f64, v128, i32)
	values := wasmtest.Join(zeroOf[f64], zeroOf[v128], wasmtest.I32Const(5))
	deep := func(inner ...wasmtest.Code) wasmtest.Code { // four blocks
		return wasmtest.Block(wasmtest.Loop(wasmtest.Block(wasmtest.I32Const(1), wasmtest.If(inner...))))
	}
	m := wasmtest.New(wasmtest.Import{Module: "test", Name: "see", Params: types(i32, i64), Results: types(i32)})
	m.Global(i32, true, wasmtest.I32Const(0))
	leaf := m.Func(nil, nil, nil, counting)
	call := wasmtest.Call(leaf)
	add := func(name string, results []wasmtest.Type, body ...wasmtest.Code) {
		m.Export(name, m.Func(types(i32), results, nil, wasmtest.Join(body...)))
	}
	add("falls off", nil, call)
	add("falls off with results", mixed, call, values)
	add("returns", nil, call, wasmtest.Return)
	add("returns from deep", nil, call, deep(wasmtest.Return))
	add("returns results from deep", mixed, call, deep(values, wasmtest.Return), values)
	add("returns with more on the stack", mixed, call, wasmtest.I64Const(1), wasmtest.I64Const(2), values, wasmtest.Return)
	add("br", nil, call, wasmtest.Br(0))
	add("br from deep", nil, call, deep(wasmtest.Br(4)))
	add("br with a result", types(i32), call, deep(wasmtest.I32Const(3), wasmtest.Br(4)), wasmtest.I32Const(4))
	add("br with results", two, call, deep(wasmtest.I32Const(3), wasmtest.I64Const(3), wasmtest.Br(4)), wasmtest.I32Const(4), wasmtest.I64Const(3))
	add("br_if", nil, call, deep(wasmtest.LocalGet(0), wasmtest.BrIf(4)), call)
	add("br_if with results", mixed, call, values, wasmtest.LocalGet(0), wasmtest.BrIf(0), call, dropped(3), values)
	add("br_table", nil, call, deep(wasmtest.LocalGet(0), op(module.OpBrTable, 2, 0, 4, 3)), call)
	add("br_table with results", mixed, call, values, wasmtest.LocalGet(0), op(module.OpBrTable, 1, 0, 0))
	add("the host", nil, wasmtest.I32Const(0), wasmtest.I64Const(0), wasmtest.Call(0), wasmtest.Drop)
	add("dead code after return", two, call, wasmtest.I32Const(3), wasmtest.I64Const(3), wasmtest.Return, wasmtest.Block(call, wasmtest.Br(0)))
	m.Export("calls another", m.Func(types(i32), types(i64), nil, wasmtest.LocalGet(0), wasmtest.Call(leaf+10), wasmtest.Return))
	recursion := wasmtest.Func(uint32(leaf) + 18)
	m.Export("recurses", m.Func(types(i32), nil, nil,
		wasmtest.LocalGet(0), wasmtest.If(wasmtest.LocalGet(0), wasmtest.I32Const(1), wasmtest.I32Sub, wasmtest.Call(recursion), wasmtest.Return), call))
	binary := m.Bytes()
	parsed, err := module.Parse(binary, module.Caps{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range engines {
		metered, original := newMachine(t, e.config(), binary), plain(t, e.config(), binary)
		for i := range parsed.Exports {
			name := parsed.Exports[i].Name
			for n := range uint64(4) {
				got, _ := metered.mustCall(t, name, n) // also checks the stack budget
				want, err := invoke(t.Context(), original.ExportedFunction(name), n)
				if err != nil {
					t.Fatal(err)
				}
				for j := range want {
					if got[j] != want[j] {
						t.Errorf("%s(%d) on the %s: result %d is %d, want %d", name, n, e.name, j, got[j], want[j])
					}
				}
			}
		}
	}
}

// TestACallAfterOneThatEndedIsNotShort checks that a call after one that was stopped has the
// full stack budget.
func TestACallAfterOneThatEndedIsNotShort(t *testing.T) {
	t.Parallel()
	binary, _ := recursive(t, nil, nil, nil, nil, nil)
	for _, e := range engines {
		m := newMachine(t, e.config(), binary)
		var depths [3]uint64
		for i := range depths {
			if _, _, err := m.call("f"); !errors.Is(err, errStack) {
				t.Fatalf("the recursion ends with %v", err)
			}
			depths[i] = m.module.ExportedGlobal(globalName(0)).Get()
		}
		if depths[1] != 2*depths[0] || depths[2] != 3*depths[0] {
			t.Errorf("on the %s the calls together came %d deep", e.name, depths)
		}
	}
}

// TestLeavesWithLargeFramesAreCharged checks functions that call no others: a small frame is
// not charged to the stack budget, a large one is.
func TestLeavesWithLargeFramesAreCharged(t *testing.T) {
	t.Parallel()
	for _, variables := range []int{1, 100, 1000, 2000, 4000} {
		m := wasmtest.New()
		m.Global(i32, true, wasmtest.I32Const(0))
		leaf := m.Func(nil, nil, list(variables, i64))
		m.Export("f", m.Func(nil, nil, nil, counting, wasmtest.Call(leaf), wasmtest.Call(leaf+1))) // f calls itself last
		parsed, err := module.Parse(m.Bytes(), module.Caps{})
		if err != nil {
			t.Fatal(err)
		}
		want := int64(StackBudget / MinFrame)
		if frame := int64(8*variables + parsed.Bodies[leaf].Size); frame > smallLeaf {
			want = (StackBudget-frame)/MinFrame + 1
		}
		for _, e := range engines {
			if got := depthOf(t, e.config(), m.Bytes()); got != want {
				t.Errorf("with a leaf of %d variables on the %s: %d calls deep, want %d", variables, e.name, got, want)
			}
		}
	}
}

// TestCallersThatGoOnAreLookedAt checks that the code after a call is not charged before the
// call. Otherwise a deep recursion could return without a fuel check.
func TestCallersThatGoOnAreLookedAt(t *testing.T) {
	t.Parallel()
	const depth = 500
	load := wasmtest.Join(wasmtest.I32Const(0), wasmtest.I32Load(0), wasmtest.Drop)
	addition := wasmtest.Join(wasmtest.I32Const(0), wasmtest.I32Const(0), wasmtest.I32Add, wasmtest.Drop)
	down := wasmtest.Join(wasmtest.LocalGet(0), wasmtest.I32Const(1), wasmtest.I32Sub, wasmtest.Call(0))
	for name, test := range map[string]struct {
		again wasmtest.Code
		least int // yields per call
	}{
		"in the same block":  {wasmtest.If(down, load), 2},
		"behind it":          {wasmtest.Join(wasmtest.If(down), load), 2},
		"on one of two ways": {wasmtest.Join(wasmtest.Drop, wasmtest.Block(wasmtest.LocalGet(0), wasmtest.If(down, wasmtest.Br(1)), load), load), 2},
		"with nothing":       {wasmtest.If(down), 1},
		"with little":        {wasmtest.If(down, repeatCode(10, addition)), 1},
		"with much":          {wasmtest.If(down, repeatCode(20, addition)), 2},
		"with little, often": {wasmtest.If(down, repeatCode(20, wasmtest.I32Const(1), wasmtest.If(addition))), 2},
		"and call a leaf":    {wasmtest.If(down, wasmtest.Call(1)), 2}, // the leaf begins with a fuel check
		"in an if":           {wasmtest.If(down, wasmtest.I32Const(1), wasmtest.If(load)), 2},
	} {
		m := wasmtest.New()
		m.Memory(1)
		m.Export("f", m.Func(types(i32), nil, nil, wasmtest.LocalGet(0), test.again))
		m.Func(nil, nil, nil, load)
		host := newMachine(t, wazero.NewRuntimeConfigInterpreter(), m.Bytes())
		host.slice = 0
		host.mustCall(t, "f", depth)
		if host.asked < test.least*depth || test.least == 1 && host.asked > depth+1 {
			t.Errorf("callers that go on %s: the host is asked %d times in %d calls, want %d for each, or more if not 1", name, host.asked, depth, test.least)
		}
	}
}
