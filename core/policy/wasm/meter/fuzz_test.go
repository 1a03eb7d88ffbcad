package meter

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest/generate"
)

// outcome is the result of a module's start function, and of calling each of its functions in
// turn.
type outcome struct {
	start   string
	results [][]uint64
	traps   []string
	// fuel is the fuel of each call; empty without a meter.
	fuel    []int64
	globals []uint64
	memory  []byte
}

// look records the content of a module's memory and globals.
func (o *outcome) look(m api.Module, globals []string) {
	for _, name := range globals {
		o.globals = append(o.globals, m.ExportedGlobal(name).Get())
	}
	view, _ := m.Memory().Read(0, m.Memory().Size())
	o.memory = bytes.Clone(view)
}

// plainly runs a module without a meter.
func plainly(t *testing.T, r wazero.Runtime, g *generate.Module) *outcome {
	t.Helper()
	o := &outcome{}
	m, err := r.InstantiateWithConfig(t.Context(), g.Binary, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		o.start = trap(err)
		return o
	}
	defer m.Close(context.Background())
	for _, name := range g.Functions {
		result, err := invoke(t.Context(), m.ExportedFunction(name))
		o.results, o.traps = append(o.results, result), append(o.traps, trap(err))
	}
	o.look(m, g.Globals)
	return o
}

// metered runs a rewritten module, whose fuel is refilled to slice.
func metered(t *testing.T, r wazero.Runtime, g *generate.Module, binary []byte, slice int64) *outcome {
	t.Helper()
	o := &outcome{}
	m := &machine{slice: slice, limit: math.MaxInt64, deep: true}
	err := m.start(t, r, binary)
	if err != nil {
		o.start = trap(err)
		return o
	}
	defer m.module.Close(context.Background())
	for _, name := range g.Functions {
		result, fuel, err := m.call(name)
		o.results, o.traps, o.fuel = append(o.results, result), append(o.traps, trap(err)), append(o.fuel, fuel)
		if err == nil {
			m.assertStack(t, name)
		}
	}
	o.look(m.module, g.Globals)
	return o
}

func assertSame(t *testing.T, what string, a, b *outcome) {
	t.Helper()
	switch {
	case a.start != b.start:
		t.Fatalf("%s: the start function traps with %q and %q", what, a.start, b.start)
	case !slices.Equal(a.traps, b.traps):
		t.Fatalf("%s: traps %q and %q", what, a.traps, b.traps)
	case !slices.EqualFunc(a.results, b.results, slices.Equal):
		t.Fatalf("%s: results %x and %x", what, a.results, b.results)
	case !slices.Equal(a.globals, b.globals):
		t.Fatalf("%s: globals %x and %x", what, a.globals, b.globals)
	case !bytes.Equal(a.memory, b.memory):
		t.Fatalf("%s: memories of %d and %d bytes that differ", what, len(a.memory), len(b.memory))
	case a.fuel != nil && b.fuel != nil && !slices.Equal(a.fuel, b.fuel):
		t.Fatalf("%s: %d and %d units of fuel", what, a.fuel, b.fuel)
	}
}

// chargedSingly meters a module so that each instruction is charged on its own when it is
// reached.
func chargedSingly(t *testing.T, binary []byte) []byte {
	t.Helper()
	m, err := module.Parse(binary, module.Caps{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := (&rewriter{m: m, each: true}).rewrite(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return out.Binary
}

// assertCharged checks that charging by blocks never charges less than charging each
// instruction.
func assertCharged(t *testing.T, blocks, singly *outcome) {
	t.Helper()
	for i, fuel := range singly.fuel {
		if blocks.fuel[i] < fuel {
			t.Fatalf("call %d takes %d units by blocks, and does what takes %d", i, blocks.fuel[i], fuel)
		}
	}
}

// fuzzSlices are the amounts to which a fuzzed module's fuel is refilled.
var fuzzSlices = []int64{manyFuel, 100_000, 1000, 7}

// differ makes a module from the bytes and compares its metered runs on compiler and
// interpreter. If all its NaNs are settled, differ also compares them with an unmetered run.
func differ(t *testing.T, compiler, interpreter wazero.Runtime, input []byte) {
	t.Helper()
	choice := byte(0)
	if len(input) > 0 {
		choice, input = input[0], input[1:]
	}
	g := generate.New(input, generate.Options{Settled: choice&1 == 0})
	binary := rewritten(t, g.Binary).Binary
	compiled := metered(t, compiler, g, binary, manyFuel)
	assertSame(t, "compiler and interpreter", compiled, metered(t, interpreter, g, binary, fuzzSlices[choice>>1&3]))
	assertCharged(t, compiled, metered(t, interpreter, g, chargedSingly(t, g.Binary), manyFuel))
	if choice&1 == 0 {
		original := interpreter
		if choice&8 != 0 {
			original = compiler
		}
		assertSame(t, "metered and as it is", compiled, plainly(t, original, g))
	}
}

// randomBytes returns n pieces of random bytes, which are the same in every run.
func randomBytes(n, length int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		random := rand.New(rand.NewPCG(uint64(i), 11))
		all[i] = make([]byte, length)
		for j := range all[i] {
			all[i][j] = byte(random.Uint32())
		}
	}
	return all
}

func TestGeneratedModulesDoTheSameMetered(t *testing.T) {
	t.Parallel()
	compiler, interpreter := newRuntime(t, wazero.NewRuntimeConfigCompiler()), newRuntime(t, wazero.NewRuntimeConfigInterpreter())
	for i, input := range randomBytes(200, 500) {
		if differ(t, compiler, interpreter, input); t.Failed() {
			t.Fatalf("with bytes %d", i)
		}
	}
}

// FuzzMeter runs modules made of arbitrary bytes, with and without a meter, on both engines.
func FuzzMeter(f *testing.F) {
	compiler, interpreter := newRuntime(f, wazero.NewRuntimeConfigCompiler()), newRuntime(f, wazero.NewRuntimeConfigInterpreter())
	for _, length := range []int{0, 20, 60, 200} {
		for _, input := range randomBytes(4, length) {
			f.Add(input)
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) { differ(t, compiler, interpreter, input) })
}
