package meter

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

const (
	page        = 1 << 16
	memoryPages = 5
	memorySize  = memoryPages * page
	segmentSize = 3*page + 100
)

// ranging returns a module with the functions fill, copy and init of three numbers, drop of
// none, and grow of one.
func ranging(tb testing.TB) []byte {
	tb.Helper()
	three := wasmtest.Join(wasmtest.LocalGet(0), wasmtest.LocalGet(1), wasmtest.LocalGet(2))
	m := wasmtest.New()
	m.Memory(memoryPages)
	m.Export("fill", m.Func(types(i32, i32, i32), nil, nil, three, op(module.OpMemoryFill, 0)))
	m.Export("copy", m.Func(types(i32, i32, i32), nil, nil, three, op(module.OpMemoryCopy, 0, 0)))
	m.Export("init", m.Func(types(i32, i32, i32), nil, nil, three, op(module.OpMemoryInit, 0, 0)))
	m.Export("drop", m.Func(nil, nil, nil, op(module.OpDataDrop, 0)))
	m.Export("grow", m.Func(types(i32), types(i32), nil, wasmtest.LocalGet(0), wasmtest.MemoryGrow))
	content := pattern(segmentSize, 77)
	m.Replace(11, append([]byte{1, 1, byte(segmentSize&0x7f | 0x80), byte(segmentSize>>7&0x7f | 0x80), byte(segmentSize >> 14)}, content...))
	return insertSection(m.Bytes(), 12, []byte{1}, 10)
}

// insertSection inserts a section before another one.
func insertSection(binary []byte, id byte, payload []byte, before byte) []byte {
	at := 8
	for at < len(binary) && binary[at] != before {
		n, size := 0, 0
		for shift := 0; ; shift += 7 {
			b := binary[at+1+size]
			n |= int(b&0x7f) << shift
			if size++; b < 0x80 {
				break
			}
		}
		at += 1 + size + n
	}
	out := append(bytes.Clone(binary[:at]), id, byte(len(payload)))
	return append(append(out, payload...), binary[at:]...)
}

// pattern returns bytes that differ from place to place.
func pattern(n, seed int) []byte {
	out := make([]byte, n)
	state := uint32(seed)
	for i := range out {
		state = state*1664525 + 1013904223
		out[i] = byte(state >> 24)
	}
	return out
}

// content returns the memory of a module.
func content(tb testing.TB, m api.Module) []byte {
	tb.Helper()
	view, ok := m.Memory().Read(0, m.Memory().Size())
	if !ok {
		tb.Fatal("no memory")
	}
	return view
}

// rangeCase is an instruction on a range of memory.
type rangeCase struct {
	name             string
	to, from, length uint64
	outside          bool
}

func rangeCases() (all []rangeCase) {
	lengths := []uint64{0, 1, 7, 8, 9, 16383, 16384, 16385, 65535, 65536, 65537, 131071, 131072, 131073, 3 * page}
	for _, n := range lengths {
		for _, at := range [][2]uint64{
			{0, 100},
			{100, 0},
			{0, 0},
			{1, 0},
			{0, 1},
			{70_000, 3},
			{3, 70_000},
			{page, 2 * page},
			{2 * page, page},
			{page + 1, page},
			{page, page + 1},
			{1000, 1000},
		} {
			to, from := at[0], at[1]
			all = append(all,
				rangeCase{name: "fill", to: to, from: from & 0xff, length: n},
				rangeCase{name: "copy", to: to, from: from, length: n},
			)
			if from+n <= segmentSize {
				all = append(all, rangeCase{name: "init", to: to, from: from, length: n})
			}
		}
		end := uint64(memorySize) - n
		all = append(
			all,
			rangeCase{name: "fill", to: end, from: 1, length: n},
			rangeCase{name: "copy", to: end, from: 5, length: n},
			rangeCase{name: "copy", to: 5, from: end, length: n},
			rangeCase{name: "init", to: end, from: 0, length: n},
			rangeCase{name: "init", to: 3, from: segmentSize - n, length: n},
			rangeCase{name: "fill", to: end + 1, from: 1, length: n, outside: true},
			rangeCase{name: "copy", to: end + 1, from: 0, length: n, outside: true},
			rangeCase{name: "copy", to: 0, from: end + 1, length: n, outside: true},
			rangeCase{name: "init", to: end + 1, from: 0, length: n, outside: true},
			rangeCase{name: "init", to: 0, from: segmentSize - n + 1, length: n, outside: true},
			rangeCase{name: "fill", to: 0xffffffff, from: 1, length: n, outside: true},
			rangeCase{name: "copy", to: 0xffffff00, from: 0xffffff00, length: n, outside: true},
		)
	}
	for _, name := range []string{"fill", "copy", "init"} {
		for _, n := range []uint64{memorySize + 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xffff0000} {
			all = append(all, rangeCase{name: name, to: 0, from: 1, length: n, outside: true}, rangeCase{name: name, to: 0xffffffff, from: 0xffffffff, length: n, outside: true})
		}
	}
	return all
}

func TestRangesOfMemoryAreTheSameMetered(t *testing.T) {
	t.Parallel()
	binary := ranging(t)
	start := pattern(memorySize, 5)
	fuels := map[string][]int64{}
	for _, e := range engines {
		metered, original := newMachine(t, e.config(), binary), plain(t, e.config(), binary)
		for _, c := range rangeCases() {
			what := fmt.Sprintf("%s to %#x from %#x of %d bytes on the %s", c.name, c.to, c.from, c.length, e.name)
			copy(content(t, metered.module), start)
			copy(content(t, original), start)
			_, fuel, err := metered.call(c.name, c.to, c.from, c.length)
			_, want := invoke(t.Context(), original.ExportedFunction(c.name), c.to, c.from, c.length)
			fuels[e.name] = append(fuels[e.name], fuel)
			if trap(err) != trap(want) || (err != nil) != c.outside {
				t.Fatalf("%s: %q, without the meter %q", what, trap(err), trap(want))
			}
			if !bytes.Equal(content(t, metered.module), content(t, original)) {
				t.Fatalf("%s: another memory than without the meter", what)
			}
			if c.outside && !bytes.Equal(content(t, metered.module), start) {
				t.Fatalf("%s: something was written", what)
			}
			if err == nil {
				metered.assertStack(t, what)
			}
		}
	}
	for i, c := range rangeCases() {
		if a, b := fuels["compiler"][i], fuels["interpreter"][i]; a != b {
			t.Fatalf("%+v takes %d on the compiler, %d on the interpreter", c, a, b)
		}
	}
}

func TestASegmentThatWasDroppedIsEmpty(t *testing.T) {
	t.Parallel()
	binary := ranging(t)
	for _, e := range engines {
		metered, original := newMachine(t, e.config(), binary), plain(t, e.config(), binary)
		metered.mustCall(t, "drop")
		if _, err := original.ExportedFunction("drop").Call(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, c := range [][3]uint64{{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 0, page + 1}, {0, 0, segmentSize}, {memorySize, 0, 0}, {memorySize + 1, 0, 0}} {
			_, _, err := metered.call("init", c[:]...)
			_, want := invoke(t.Context(), original.ExportedFunction("init"), c[:]...)
			if trap(err) != trap(want) {
				t.Errorf("init %d on the %s: %q, without the meter %q", c, e.name, trap(err), trap(want))
			}
			if !bytes.Equal(content(t, metered.module), content(t, original)) {
				t.Errorf("init %d on the %s: something was written", c, e.name)
			}
		}
	}
}

func TestRangesTakeFuelByTheirLength(t *testing.T) {
	t.Parallel()
	binary := ranging(t)
	eachEngine(t, func(t *testing.T, config wazero.RuntimeConfig) {
		t.Helper()
		m := newMachine(t, config, binary)
		for _, name := range []string{"fill", "copy", "init"} {
			_, nothing := m.mustCall(t, name, 0, 0, 0)
			last := nothing
			for _, n := range []uint64{8, 80, 16 << 10, 17 << 10, page, page + 8, 2 * page, 2*page + 8, 3 * page} {
				_, fuel := m.mustCall(t, name, 0, 0, n)
				if fuel <= last {
					t.Errorf("%s of %d bytes takes %d, shorter ones %d", name, n, fuel, last)
				}
				if last = fuel; fuel-nothing < int64(n)/bytesPerUnit {
					t.Errorf("%s of %d bytes takes %d more than one of nothing", name, n, fuel-nothing)
				}
				// Copying upwards and downwards must use the same fuel.
				if _, other := m.mustCall(t, name, 64, 0, n); other != fuel {
					t.Errorf("%s of %d bytes takes %d upwards, %d downwards", name, n, fuel, other)
				}
			}
		}
	})
}

// TestTheHostIsAskedBetweenPieces checks that a long range yields between its pieces, even if
// fuel is left.
func TestTheHostIsAskedBetweenPieces(t *testing.T) {
	t.Parallel()
	binary := ranging(t)
	eachEngine(t, func(t *testing.T, config wazero.RuntimeConfig) {
		t.Helper()
		m := newMachine(t, config, binary)
		for _, name := range []string{"fill", "copy", "init"} {
			for _, to := range []uint64{0, 64} {
				for n, least := range map[uint64]int{1000: 0, 20_000: 1, 2*page + 1: 2, 3 * page: 3} {
					m.mustCall(t, name, 0, 0, 0) // refills the fuel
					ask := m.asked
					m.mustCall(t, name, to, 0, n)
					if got := m.asked - ask; got < least || least == 0 && got > 0 {
						t.Errorf("%s of %d bytes asks the host %d times, want %d", name, n, got, least)
					}
				}
			}
		}
	})
}

// TestARangeIsEndedBetweenPieces checks that a call stopped between two pieces has written
// the pieces before.
func TestARangeIsEndedBetweenPieces(t *testing.T) {
	t.Parallel()
	binary := ranging(t)
	eachEngine(t, func(t *testing.T, config wazero.RuntimeConfig) {
		t.Helper()
		m := newMachine(t, config, binary)
		m.slice, m.limit = 100, 9000 // enough for one piece, but not for two
		if _, _, err := m.call("fill", 0, 0xff, 4*page); trap(err) != errFuel.Error() {
			t.Fatalf("it ends with %v", err)
		}
		view := content(t, m.module)
		if view[0] != 0xff || view[memorySize-page-1] != 0 {
			t.Errorf("the first byte is %#x, the last %#x", view[0], view[memorySize-page-1])
		}
	})
}

func TestGrowingGivesTheSameAndTakesFuelByPages(t *testing.T) {
	t.Parallel()
	binary := ranging(t)
	for _, e := range engines {
		metered, original := newMachine(t, e.config(), binary), plain(t, e.config(), binary)
		_, failed := metered.mustCall(t, "grow", 0xffffffff)
		_, zero := metered.mustCall(t, "grow", 0)
		_, one := metered.mustCall(t, "grow", 1)
		_, three := metered.mustCall(t, "grow", 3)
		if one <= zero || three-zero != 3*(one-zero) || failed > zero {
			t.Errorf("growing on the %s by 0, 1, 3 pages takes %d, %d, %d; failing to grow %d", e.name, zero, one, three, failed)
		}
		if _, err := original.ExportedFunction("grow").Call(t.Context(), 4); err != nil { // as far as the metered one grew
			t.Fatal(err)
		}
		for _, n := range []uint64{0, 1, 5, 0x10000, 0xffffffff, 0x80000000, 60, 49, 48, 1} {
			got, _ := metered.mustCall(t, "grow", n)
			want, err := invoke(t.Context(), original.ExportedFunction("grow"), n)
			if err != nil {
				t.Fatal(err)
			}
			if got[0] != want[0] || metered.module.Memory().Size() != original.Memory().Size() {
				t.Errorf("growing by %d on the %s gives %d and %d bytes, without the meter %d and %d",
					n, e.name, int32(got[0]), metered.module.Memory().Size(), int32(want[0]), original.Memory().Size())
			}
		}
	}
}
