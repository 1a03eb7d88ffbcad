package meter

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
	"github.com/wardlet/wardlet/test/wasmtest/generate"
)

// numbers32 and numbers64 are NaNs of every kind, and numbers that produce NaNs. The NaNs
// have either sign, are quiet or signalling, and have the lowest and highest payloads and
// some between.
var (
	numbers32 = []uint64{
		0x7fc00000, 0xffc00000, 0x7fc00001, 0xffc00001, 0x7fffffff, 0xffffffff, 0x7fd23456, 0xffe54321,
		0x7f800001, 0xff800001, 0x7fbfffff, 0xffbfffff, 0x7fa12345, 0xff9abcde,
		0, 0x80000000, 0x3f800000, 0xc0490fdb, 0x7f800000, 0xff800000, 1, 0x7f7fffff,
	}
	numbers64 = []uint64{
		0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000000000001, 0xfff8000000000001, 0x7fffffffffffffff, 0xffffffffffffffff,
		0x7ffa23456789abcd, 0xfffc000020000000,
		0x7ff0000000000001, 0xfff0000000000001, 0x7ff7ffffffffffff, 0xfff7ffffffffffff, 0x7ff4000000000000, 0xfff0000020000000,
		0, 0x8000000000000000, 0x3ff0000000000000, 0xc00921fb54442d18, 0x7ff0000000000000, 0xfff0000000000000, 1, 0x7fefffffffffffff,
	}
)

// numbersOf returns the bits to try as an operand of a type: one word, or two for a vector,
// whose lanes have different numbers.
func numbersOf(t, lanes module.ValueType) (all [][]uint64) {
	switch {
	case t == module.F32:
		for _, n := range numbers32 {
			all = append(all, []uint64{n})
		}
	case t == module.F64:
		for _, n := range numbers64 {
			all = append(all, []uint64{n})
		}
	case lanes == module.F64:
		for i, n := range numbers64 {
			all = append(all, []uint64{n, numbers64[(i+5)%len(numbers64)]})
		}
	default:
		at := func(i int) uint64 { return numbers32[i%len(numbers32)] }
		for i := range numbers32 {
			all = append(all, []uint64{at(i) | at(i+3)<<32, at(i+7) | at(i+12)<<32})
		}
	}
	return all
}

// canonicalBits returns the result that a metered module must return, from the engine's
// result without a meter: each NaN in a lane is replaced by the canonical one.
func canonicalBits(result []uint64, lane module.ValueType) []uint64 {
	out := slices.Clone(result)
	for i, w := range out {
		if lane == module.F64 {
			if math.IsNaN(math.Float64frombits(w)) {
				out[i] = 0x7ff8000000000000
			}
			continue
		}
		for _, shift := range []int{0, 32} {
			if half := uint32(w >> shift); math.IsNaN(float64(math.Float32frombits(half))) {
				out[i] = out[i]&^(0xffffffff<<shift) | 0x7fc00000<<shift
			}
		}
	}
	return out
}

// lanesIn returns the lane type of the operands of a vector instruction.
func lanesIn(op module.Op, lane module.ValueType) module.ValueType {
	switch op.String() {
	case "f32x4.demote_f64x2_zero":
		return module.F64
	case "f64x2.promote_low_f32x4":
		return module.F32
	}
	return lane
}

// applying adds a function that applies an instruction to its parameters and returns the
// result.
func applying(m *wasmtest.Module, op module.Op) wasmtest.Func {
	s, _ := generate.SignatureOf(op)
	var params, results []wasmtest.Type
	var body wasmtest.Code
	for i, p := range s.Params {
		params = append(params, wasmtest.Type(p))
		body = append(body, wasmtest.LocalGet(uint32(i))...)
	}
	for _, r := range s.Results {
		results = append(results, wasmtest.Type(r))
	}
	body = append(append(body, generate.Encode(op)...), generate.Operand(op, func(int) int { return 0 })...)
	return m.Func(params, results, nil, body)
}

// plain instantiates a module on an engine without metering.
func plain(tb testing.TB, config wazero.RuntimeConfig, binary []byte) api.Module {
	tb.Helper()
	m, err := newRuntime(tb, config).InstantiateWithConfig(tb.Context(), binary, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

func TestEveryNaNThatIsComputedIsTheCanonicalOne(t *testing.T) {
	t.Parallel()
	var ops []module.Op
	m := wasmtest.New()
	for _, prefix := range []module.Op{0, 0xfd << 16} {
		for n := range module.Op(256) {
			if info, ok := (prefix | n).Info(); ok && info.NaN != 0 {
				ops = append(ops, prefix|n)
				m.Export(fmt.Sprint(prefix|n), applying(m, prefix|n))
			}
		}
	}
	if len(ops) != 48 {
		t.Errorf("%d instructions give NaNs, want 48", len(ops))
	}
	binary := m.Bytes()
	eachEngine(t, func(t *testing.T, config wazero.RuntimeConfig) {
		t.Helper()
		metered, original := newMachine(t, config, binary), plain(t, config, binary)
		nans := 0
		for _, op := range ops {
			info, _ := op.Info()
			lane := info.Lanes
			if lane == 0 {
				lane = info.NaN
			}
			s, _ := generate.SignatureOf(op)
			inputs := numbersOf(s.Params[0], lanesIn(op, lane))
			seconds := [][]uint64{nil}
			if len(s.Params) == 2 {
				seconds = inputs
			}
			for _, a := range inputs {
				for _, b := range seconds {
					params := slices.Concat(a, b)
					got, _ := metered.mustCall(t, fmt.Sprint(op), params...)
					result, err := invoke(t.Context(), original.ExportedFunction(fmt.Sprint(op)), params...)
					if err != nil {
						t.Fatal(err)
					}
					want := canonicalBits(result, lane)
					if !slices.Equal(got, want) {
						t.Fatalf("%s of %x is %x, want %x", op, params, got, want)
					}
					if !slices.Equal(canonicalBits(got, lane), result) {
						nans++
					}
				}
			}
		}
		t.Logf("%d results had another NaN than the canonical one without the meter", nans)
		if nans == 0 {
			t.Error("the engine gives the canonical NaN everywhere: this test shows nothing")
		}
	})
}

// TestInstructionsThatOnlyMoveBitsKeepNaNs covers the instructions that the specification
// defines bit by bit.
func TestInstructionsThatOnlyMoveBitsKeepNaNs(t *testing.T) {
	t.Parallel()
	const sign32, sign64 = 1 << 31, 1 << 63
	first := func(a, _ uint64) uint64 { return a }
	less := func(a, b uint64, wide bool) bool {
		if wide {
			return math.Float64frombits(a) < math.Float64frombits(b)
		}
		return math.Float32frombits(uint32(a)) < math.Float32frombits(uint32(b))
	}
	zero := wasmtest.I32Const(0)
	load := func(op byte) wasmtest.Code { return wasmtest.Code{op, 0, 0} }
	get := wasmtest.LocalGet
	for name, test := range map[string]struct {
		wide bool
		code wasmtest.Code
		want func(a, b uint64) uint64
	}{
		"f32.abs":      {false, wasmtest.Join(get(0), op(0x8b)), func(a, _ uint64) uint64 { return a &^ sign32 }},
		"f32.neg":      {false, wasmtest.Join(get(0), op(0x8c)), func(a, _ uint64) uint64 { return a ^ sign32 }},
		"f32.copysign": {false, wasmtest.Join(get(0), get(1), op(0x98)), func(a, b uint64) uint64 { return a&^sign32 | b&sign32 }},
		"f64.abs":      {true, wasmtest.Join(get(0), op(0x99)), func(a, _ uint64) uint64 { return a &^ sign64 }},
		"f64.neg":      {true, wasmtest.Join(get(0), op(0x9a)), func(a, _ uint64) uint64 { return a ^ sign64 }},
		"f64.copysign": {true, wasmtest.Join(get(0), get(1), op(0xa6)), func(a, b uint64) uint64 { return a&^sign64 | b&sign64 }},
		"select of f32": {
			false, wasmtest.Join(get(0), get(1), wasmtest.I32Const(1), op(module.OpSelect)), first,
		},
		"a global of f64":      {true, wasmtest.Join(get(0), wasmtest.GlobalSet(1), wasmtest.GlobalGet(1)), first},
		"a global of f32":      {false, wasmtest.Join(get(0), wasmtest.GlobalSet(0), wasmtest.GlobalGet(0)), first},
		"memory of f32":        {false, wasmtest.Join(zero, get(0), load(0x38), zero, load(0x2a)), first},
		"memory of f64":        {true, wasmtest.Join(zero, get(0), load(0x39), zero, load(0x2b)), first},
		"f32 and i32 and back": {false, wasmtest.Join(get(0), op(0xbc), op(0xbe)), first},
		"f64 and i64 and back": {true, wasmtest.Join(get(0), op(0xbd), op(0xbf)), first},
		"a block's result":     {true, wasmtest.Join(enclose(module.OpBlock, byte(f64), get(0), wasmtest.Br(0))), first},
		"f32x4 lanes":          {false, wasmtest.Join(get(0), op(0xfd<<16|19), op(0xfd<<16|31, 3)), first},
		"f64x2 lanes":          {true, wasmtest.Join(get(1), op(0xfd<<16|20), get(0), op(0xfd<<16|34, 1), op(0xfd<<16|33, 1)), first},
		"f32x4.abs":            {false, wasmtest.Join(get(0), op(0xfd<<16|19), op(0xfd<<16|224), op(0xfd<<16|31, 2)), func(a, _ uint64) uint64 { return a &^ sign32 }},
		"f32x4.neg":            {false, wasmtest.Join(get(0), op(0xfd<<16|19), op(0xfd<<16|225), op(0xfd<<16|31, 1)), func(a, _ uint64) uint64 { return a ^ sign32 }},
		"f64x2.abs":            {true, wasmtest.Join(get(0), op(0xfd<<16|20), op(0xfd<<16|236), op(0xfd<<16|33, 0)), func(a, _ uint64) uint64 { return a &^ sign64 }},
		"f64x2.neg":            {true, wasmtest.Join(get(0), op(0xfd<<16|20), op(0xfd<<16|237), op(0xfd<<16|33, 1)), func(a, _ uint64) uint64 { return a ^ sign64 }},
		"f32x4.pmin": {
			false, wasmtest.Join(get(0), op(0xfd<<16|19), get(1), op(0xfd<<16|19), op(0xfd<<16|234), op(0xfd<<16|31, 1)),
			func(a, b uint64) uint64 { return pick(less(b, a, false), b, a) },
		},
		"f32x4.pmax": {
			false, wasmtest.Join(get(0), op(0xfd<<16|19), get(1), op(0xfd<<16|19), op(0xfd<<16|235), op(0xfd<<16|31, 1)),
			func(a, b uint64) uint64 { return pick(less(a, b, false), b, a) },
		},
		"f64x2.pmin": {
			true, wasmtest.Join(get(0), op(0xfd<<16|20), get(1), op(0xfd<<16|20), op(0xfd<<16|246), op(0xfd<<16|33, 1)),
			func(a, b uint64) uint64 { return pick(less(b, a, true), b, a) },
		},
		"f64x2.pmax": {
			true, wasmtest.Join(get(0), op(0xfd<<16|20), get(1), op(0xfd<<16|20), op(0xfd<<16|247), op(0xfd<<16|33, 1)),
			func(a, b uint64) uint64 { return pick(less(a, b, true), b, a) },
		},
	} {
		m := wasmtest.New()
		m.Memory(1)
		m.Global(f32, true, wasmtest.Code{0x43, 0, 0, 0, 0})
		m.Global(f64, true, wasmtest.Code{0x44, 0, 0, 0, 0, 0, 0, 0, 0})
		of, numbers := f32, numbers32
		if test.wide {
			of, numbers = f64, numbers64
		}
		m.Export("f", m.Func(types(of, of), types(of), nil, test.code))
		for _, e := range engines {
			metered := newMachine(t, e.config(), m.Bytes())
			for _, a := range numbers {
				for _, b := range numbers {
					if got, _ := metered.mustCall(t, "f", a, b); got[0] != test.want(a, b) {
						t.Fatalf("%s of %x and %x is %x on the %s, want %x", name, a, b, got[0], e.name, test.want(a, b))
					}
				}
			}
		}
	}
}

func pick(condition bool, yes, no uint64) uint64 {
	if condition {
		return yes
	}
	return no
}
