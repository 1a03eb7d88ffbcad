package meter

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

const tableEntries = 100

// tabled returns a module with two tables of 100 functions, one table of host objects, and
// passive elements; and with functions for every instruction on tables. Function n of ten
// returns n. "at0" and "at1" call the entry at an index, "null0" and "null1" report whether
// the entry is null.
func tabled() []byte {
	m := wasmtest.New()
	for n := range int32(10) {
		m.Func(nil, types(i32), nil, wasmtest.I32Const(n))
	}
	three := wasmtest.Join(wasmtest.LocalGet(0), wasmtest.LocalGet(1), wasmtest.LocalGet(2))
	add := func(name string, params, results []wasmtest.Type, body ...wasmtest.Code) {
		m.Export(name, m.Func(params, results, nil, body...))
	}
	for table := range uint32(2) {
		add(fmt.Sprint("at", table), types(i32), types(i32), wasmtest.LocalGet(0), op(module.OpCallIndirect, 0, table))
		add(fmt.Sprint("null", table), types(i32), types(i32), wasmtest.LocalGet(0), op(module.OpTableGet, table), op(0xd1))
		add(fmt.Sprint("fill", table), types(i32, i32, i32), nil, wasmtest.LocalGet(0), wasmtest.I32Const(5), op(module.OpTableGet, 0), wasmtest.LocalGet(2), op(module.OpTableFill, table))
		add(fmt.Sprint("init", table), types(i32, i32, i32), nil, three, op(module.OpTableInit, 1, table))
		add(fmt.Sprint("copy", table, table), types(i32, i32, i32), nil, three, op(module.OpTableCopy, table, table))
		add(fmt.Sprint("copy", table, 1-table), types(i32, i32, i32), nil, three, op(module.OpTableCopy, table, 1-table))
		add(fmt.Sprint("grow", table), types(i32), types(i32), wasmtest.I32Const(7), op(module.OpTableGet, 0), wasmtest.LocalGet(0), op(module.OpTableGrow, table))
		add(fmt.Sprint("size", table), nil, types(i32), op(module.OpTableSize, table))
	}
	add("drop", nil, nil, op(module.OpElemDrop, 1))
	add("grow2", types(i32), types(i32), wasmtest.Code{0xd0, 0x6f}, wasmtest.LocalGet(0), op(module.OpTableGrow, 2))
	add("fill2", types(i32, i32, i32), nil, wasmtest.LocalGet(0), wasmtest.Code{0xd0, 0x6f}, wasmtest.LocalGet(2), op(module.OpTableFill, 2))
	m.Replace(4, []byte{3, 0x70, 1, tableEntries, 0xc8, 1, 0x70, 0, tableEntries, 0x6f, 1, 2, 9})
	active := []byte{0, 0x41, 0, 0x0b, 90}
	passive := []byte{1, 0, 60}
	for i := range byte(90) {
		active = append(active, i*7%10)
	}
	for i := range byte(60) {
		passive = append(passive, i*3%10)
	}
	m.Replace(9, slices.Concat([]byte{2}, active, passive))
	return m.Bytes()
}

func TestTablesAreTheSameMetered(t *testing.T) {
	t.Parallel()
	binary := tabled()
	fuels := map[string][]int64{}
	for _, e := range engines {
		metered, original := newMachine(t, e.config(), binary), plain(t, e.config(), binary)
		step := func(name string, params ...uint64) {
			t.Helper()
			got, fuel, err := metered.call(name, params...)
			want, plainErr := invoke(t.Context(), original.ExportedFunction(name), params...)
			if trap(err) != trap(plainErr) || !slices.Equal(got, want) {
				t.Fatalf("%s%d on the %s: %d, trap %q; without the meter %d, %q", name, params, e.name, got, trap(err), want, trap(plainErr))
			}
			fuels[e.name] = append(fuels[e.name], fuel)
		}
		compare := func() {
			t.Helper()
			for table := range 2 {
				size, _, _ := metered.call(fmt.Sprint("size", table))
				step(fmt.Sprint("size", table))
				for i := range size[0] + 1 {
					step(fmt.Sprint("at", table), i)
					step(fmt.Sprint("null", table), i)
				}
			}
		}
		compare()
		ranges := [][3]uint64{
			{0, 0, 0},
			{0, 1, 1},
			{3, 0, 50},
			{0, 3, 50},
			{50, 10, 50},
			{tableEntries, 0, 0},
			{0, tableEntries, 0},
			{tableEntries + 1, 0, 0},
			{51, 0, 50},
			{0, 51, 50},
			{99, 0, 2},
			{0, 99, 2},
			{0, 0, 101},
			{0, 0, 0xffffffff},
			{0xffffffff, 0, 1},
			{0, 0xffffffff, 1},
			{1, 2, 0x80000000},
			{40, 0, 60},
			{41, 0, 60},
			{40, 1, 60},
		}
		for _, name := range []string{"copy0 0", "copy0 1", "fill1", "copy1 1", "init0", "copy1 0", "fill0", "init1", "fill2"} {
			for _, r := range ranges {
				step(name, r[:]...)
			}
			compare()
		}
		for _, n := range []uint64{0, 1, 5, 0xffffffff, 200, 94, 93, 1} {
			step("grow0", n)
			step("grow2", n)
		}
		step("grow1", 30)
		compare()
		step("drop")
		for _, r := range ranges {
			step("init0", r[:]...)
		}
		compare()
	}
	if !slices.Equal(fuels["compiler"], fuels["interpreter"]) {
		t.Error("the engines take other fuel")
	}
}

func TestRangesOfTablesTakeFuelByTheirLength(t *testing.T) {
	t.Parallel()
	binary := tabled()
	eachEngine(t, func(t *testing.T, config wazero.RuntimeConfig) {
		t.Helper()
		m := newMachine(t, config, binary)
		for _, name := range []string{"fill0", "copy0 0", "copy0 1", "init0"} {
			_, nothing := m.mustCall(t, name, 0, 0, 0)
			_, one := m.mustCall(t, name, 0, 0, 1)
			_, many := m.mustCall(t, name, 0, 0, 60)
			if one <= nothing || many-nothing != 60*(one-nothing) {
				t.Errorf("%s of 0, 1 and 60 elements takes %d, %d and %d", name, nothing, one, many)
			}
			// A range that fails must not be charged by its length.
			if _, fuel, err := m.call(name, 0, 0, 0xffffffff); err == nil || fuel > many {
				t.Errorf("%s of all there could be: %v, takes %d", name, err, fuel)
			}
		}
		_, nothing := m.mustCall(t, "grow0", 0)
		_, one := m.mustCall(t, "grow0", 1)
		_, many := m.mustCall(t, "grow0", 50)
		if _, failed := m.mustCall(t, "grow0", 0xffffffff); one <= nothing || many-nothing != 50*(one-nothing) || failed > nothing {
			t.Errorf("growing by 0, 1 and 50 takes %d, %d and %d; failing to grow %d", nothing, one, many, failed)
		}
	})
}
