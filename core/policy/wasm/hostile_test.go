package wasm

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// calling returns a plugin that calls one function in each hook. Each parameter is 8 bytes of
// the pod's name.
func calling(module, name string, f function) []byte {
	of := w.Import{Module: module, Name: name}
	for _, t := range f.params {
		of.Params = append(of.Params, w.Type(t))
	}
	for _, t := range f.results {
		of.Results = append(of.Results, w.Type(t))
	}
	m := w.Plugin(w.Path, w.Field, of)
	m.Data(512, "object.metadata.name")
	m.Data(600, "object.spec.@containers[*].image")
	m.Data(w.Input, "\x00\x10\x00\x00")
	m.Init(
		w.I32Const(512), w.I32Const(20), w.Call(0), w.Drop,
		w.I32Const(600), w.I32Const(32), w.Call(1), w.Drop, w.I32Const(0),
	)
	m.Export("wardlet_input", m.Func(nil, []w.Type{w.I32}, nil, w.I32Const(w.Input)))
	const parameters = w.Input + 8 + 4 + headerBytes
	var body w.Code
	for i, t := range of.Params {
		load := w.I32Load(uint32(8 * i))
		if t == w.I64 {
			load = w.I64Load(uint32(8 * i))
		}
		body = w.Join(body, w.I32Const(parameters), load)
	}
	body = w.Join(body, w.Call(2))
	for range of.Results {
		body = w.Join(body, w.Drop)
	}
	m.Admit(body, w.I32Const(0))
	return m.Bytes()
}

// hostile are parameters that cause errors if a check is missing.
var hostile = []int64{0, 1, 20, 1<<16 - 1, 1 << 16, math.MaxInt32, -1, math.MinInt64}

// TestHostFunctionsWithstandAnyParameters checks that a host function, whatever its
// parameters, either answers or ends the call as the ABI says. Other tests check the answers.
func TestHostFunctionsWithstandAnyParameters(t *testing.T) {
	t.Parallel()
	for module, functions := range map[string]map[string]function{abiModule: abiFunctions, wasiModule: wasiFunctions} {
		for name, f := range functions {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p, _ := load(t, calling(module, name, f), func(o *Options) { o.Settings = map[string]any{"a": "b"} })
				parameters := make([]byte, 8*4)
				failed := 0
				var try func(i int)
				try = func(i int) {
					if i < len(f.params) {
						for _, n := range hostile {
							binary.LittleEndian.PutUint64(parameters[8*i:], uint64(n))
							try(i + 1)
						}
						return
					}
					q := abitest.Pod("image")
					q.Name = string(parameters)
					_, err := p.Admit(t.Context(), question(q))
					if err == nil {
						return
					}
					failed++
					want := abi.BadOutput
					if name == "proc_exit" {
						want = abi.Trap
					}
					if failure, ok := errors.AsType[*abi.Failure](err); !ok || failure.Code != want || module == wasiModule && want == abi.BadOutput {
						t.Fatalf("%v: %v", parameters, err)
					}
				}
				try(0)
				if takesPointers := module == abiModule && len(f.params) > 1; takesPointers && failed == 0 {
					t.Error("no pointer is checked")
				}
			})
		}
	}
}
