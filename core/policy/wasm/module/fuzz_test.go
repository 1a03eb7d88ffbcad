package module_test

import (
	"context"
	"regexp"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
	"github.com/wardlet/wardlet/test/wasmtest/generate"
)

// seeds returns valid modules, and some broken ones.
func seeds() [][]byte {
	return [][]byte{
		nil, of(), everything, around([]byte{0x41, 0, 0x1a}), code("\x00\x41\x00\x04\x40\x05\x0b\x0b"), around([]byte("\x02\x40\x41\x00\x0e\x01\x00\x01\x0b")),
		wasmtest.NoHooks(), wasmtest.Denying("object.spec", "x"), wasmtest.UnknownImport(), wasmtest.HoldingFor(5),
		generate.New(nil, generate.Options{}).Binary, generate.New([]byte("some bytes to make choices by"), generate.Options{Settled: true}).Binary,
	}
}

// FuzzParse reads broken modules. A module that the engine accepts must be read without an
// error, so that no valid plugin is refused. Every index in a module that is read must exist
// in its list.
func FuzzParse(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	// The modules are only compiled, so that no large memories are allocated.
	r := wazero.NewRuntimeWithConfig(context.Background(), wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2))
	f.Cleanup(func() { _ = r.Close(context.Background()) })
	f.Fuzz(func(t *testing.T, binary []byte) {
		err := read(binary)
		m, parsed := module.Parse(binary, module.Caps{})
		if parsed == nil {
			assertIndices(t, m)
			for i := range m.Data {
				_, _ = m.Data[i].Address()
			}
		}
		if err == nil || declaresMuch(binary) {
			return
		}
		if valid(t, r, binary) == nil && !lenient.MatchString(err.Error()) {
			t.Fatalf("the engine takes what is refused: %v", err)
		}
	})
}

// lenient matches faults that the engine does not find: an empty data count section, which is
// invalid, and reference types beyond WebAssembly 2.0, which the engine accepts although they
// are not enabled.
var lenient = regexp.MustCompile(`^data count section, at byte 0x[0-9a-f]+: it ends in the middle$|` +
	`a (value|block) of type 0x(40|63|64|69)\b`)

// declaresMuch reports whether a module may contain a number of three bytes. The engine
// allocates lists of the declared lengths.
func declaresMuch(binary []byte) bool {
	for i := range binary[:max(0, len(binary)-1)] {
		if binary[i] >= 0x80 && binary[i+1] >= 0x80 {
			return true
		}
	}
	return false
}

func assertIndices(t *testing.T, m *module.Module) {
	t.Helper()
	for i, f := range m.Functions {
		if int(f) >= len(m.Types) {
			t.Fatalf("function %d is of type %d of %d", i, f, len(m.Types))
		}
	}
	for i := range m.Exports {
		e := &m.Exports[i]
		n := []int{len(m.Functions), len(m.Tables), len(m.Memories), len(m.Globals)}[e.Kind]
		if int(e.Index) >= n {
			t.Fatalf("export %d is %s %d of %d", i, e.Kind, e.Index, n)
		}
	}
	for i := range m.Elements {
		for _, f := range m.Elements[i].Functions {
			if int(f) >= len(m.Functions) {
				t.Fatalf("element segment %d has function %d of %d", i, f, len(m.Functions))
			}
		}
	}
	if m.Start >= len(m.Functions) || len(m.Functions) != len(m.Bodies)+m.ImportedFunctions {
		t.Fatalf("start %d, %d functions, %d bodies, %d imported", m.Start, len(m.Functions), len(m.Bodies), m.ImportedFunctions)
	}
}
