package meter

import (
	"fmt"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
	"github.com/wardlet/wardlet/test/wasmtest/generate"
)

// sum returns the weight of all instructions in pieces of code.
func sum(tb testing.TB, pieces ...wasmtest.Code) (fuel int64) {
	tb.Helper()
	// The function around the pieces defines everything that they may refer to.
	m := wasmtest.New()
	m.Memory(1)
	m.Global(i32, true, wasmtest.I32Const(0))
	m.Func(types(i32, i32, i32, i64, f32, f64, v128), nil, nil, op(module.OpUnreachable), wasmtest.Join(pieces...))
	parsed, err := module.Parse(m.Bytes(), module.Caps{})
	if err != nil {
		tb.Fatal(err)
	}
	code := parsed.Code(0)
	var in module.Instruction
	for first := true; code.Next(&in); first = false {
		if !first {
			fuel += Weight(in.Op)
		}
	}
	if err := code.Err(); err != nil {
		tb.Fatal(err)
	}
	return fuel
}

// straight returns functions that apply an instruction to constants, with their code and
// class by name.
func straight() (binary []byte, names map[string]wasmtest.Code, classes map[string]module.Class) {
	m := wasmtest.New()
	m.Memory(1)
	names, classes = map[string]wasmtest.Code{}, map[string]module.Class{}
	second := func(n int) int { return min(1, n-1) } // chooses 1 of the integers and -0 of the floats
	constants := map[module.ValueType]module.Op{
		module.I32: module.OpI32Const, module.I64: module.OpI64Const, module.F32: module.OpF32Const, module.F64: module.OpF64Const, module.V128: module.OpV128Const,
	}
	for _, prefix := range []module.Op{0, 0xfc << 16, 0xfd << 16} {
		for n := range module.Op(256) {
			s, ok := generate.SignatureOf(prefix | n)
			if !ok {
				continue
			}
			var body wasmtest.Code
			for _, p := range s.Params {
				body = wasmtest.Join(body, generate.Encode(constants[p]), generate.Operand(constants[p], second))
			}
			body = wasmtest.Join(body, generate.Encode(prefix|n), generate.Operand(prefix|n, second))
			for range s.Results {
				body = wasmtest.Join(body, wasmtest.Drop)
			}
			info, _ := (prefix | n).Info()
			name := fmt.Sprintf("%#x %s", uint32(prefix|n), info.Name)
			m.Export(name, m.Func(nil, nil, nil, body))
			names[name], classes[name] = body, info.Class
		}
	}
	return m.Bytes(), names, classes
}

func TestCodeWithoutBranchesTakesTheSumOfItsWeights(t *testing.T) {
	t.Parallel()
	binary, names, classes := straight()
	seen := map[module.Class]int{}
	for _, e := range engines {
		m := newMachine(t, e.config(), binary)
		for name, body := range names {
			seen[classes[name]]++
			if _, fuel := m.mustCall(t, name); fuel != sum(t, body) {
				t.Errorf("%s on the %s: %d units of fuel, want %d", name, e.name, fuel, sum(t, body))
			}
		}
	}
	for _, class := range []module.Class{
		module.Simple, module.Multiply, module.Divide, module.Float, module.Root, module.Load, module.Store, module.Vector, module.VectorLong,
	} {
		if seen[class] == 0 {
			t.Errorf("no instruction of class %d was run", class)
		}
	}
}

// TestEveryInstructionThatWorksHasAWeight checks that every class but Free costs fuel;
// otherwise its instructions would be free.
func TestEveryInstructionThatWorksHasAWeight(t *testing.T) {
	t.Parallel()
	for _, prefix := range []module.Op{0, 0xfc << 16, 0xfd << 16} {
		for n := range module.Op(256) {
			info, ok := (prefix | n).Info()
			if !ok {
				continue
			}
			if free := info.Class == module.Free; free != (Weight(prefix|n) == 0) {
				t.Errorf("%s has weight %d", info.Name, Weight(prefix|n))
			}
		}
	}
}
