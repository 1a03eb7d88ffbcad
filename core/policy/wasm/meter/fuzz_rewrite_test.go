package meter

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/core/policy/wasm/verify"
	"github.com/wardlet/wardlet/test/wasmtest"
	"github.com/wardlet/wardlet/test/wasmtest/generate"
)

// FuzzRewrite meters broken modules. A valid module must stay valid and an invalid one
// invalid, and a module that starts must start with the same memory.
func FuzzRewrite(f *testing.F) {
	data := wasmtest.Plugin()
	data.Data(100, "a")
	data.Data(102, "b")
	data.Data(9, "c")
	data.Data(65535, "d")
	for _, seed := range [][]byte{
		costly(), tabled(), numbered(), ranging(f), data.Bytes(), exporting(types(i32), types(f64), zeroOf[f64], wasmtest.Return),
		wasmtest.Denying("object.spec", "x"), generate.New(randomBytes(1, 60)[0], generate.Options{}).Binary,
		generate.New(nil, generate.Options{}).Binary,
	} {
		f.Add(seed)
	}
	r := newRuntime(f, wazero.NewRuntimeConfigInterpreter())
	f.Fuzz(func(t *testing.T, input []byte) {
		whole, err := module.Parse(input, verify.Default().Counts)
		if err != nil {
			return
		}
		original := bare(whole)
		m := parsed(t, original)
		if _, refused := verify.Check(t.Context(), m, verify.Default()); len(refused) > 0 {
			return
		}
		out, err := Rewrite(t.Context(), m, verify.Default().Metered)
		if err != nil {
			t.Fatalf("what is accepted cannot be metered: %v", err)
		}
		was, validBefore, beganBefore := begin(t, r, original)
		is, valid, began := begin(t, r, out.Binary)
		if valid != validBefore || began != beganBefore || !bytes.Equal(was, is) {
			t.Fatalf("valid %t, begins %t; metered valid %t, begins %t, same memory %t", validBefore, beganBefore, valid, began, bytes.Equal(was, is))
		}
	})
}

// bare returns a module without its custom sections and its start function.
func bare(m *module.Module) []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	for i := range m.Sections {
		s := &m.Sections[i]
		if s.ID != module.SectionStart {
			out = append(binary.AppendUvarint(append(out, s.ID), uint64(len(s.Payload))), s.Payload...)
		}
	}
	return out
}

// begin returns the memory of a new instance before any of its code runs, whether the module
// is valid, and whether it could be instantiated.
func begin(t *testing.T, r wazero.Runtime, binary []byte) (memory []byte, valid, began bool) {
	t.Helper()
	ctx := context.WithValue(context.Background(), machineKey{}, &machine{slice: manyFuel, limit: math.MaxInt64})
	code, err := r.CompileModule(ctx, binary)
	if err != nil {
		return nil, false, false
	}
	defer code.Close(ctx)
	var instance api.Module
	if instance, err = r.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithName("").WithStartFunctions()); err != nil {
		return nil, true, false
	}
	defer instance.Close(ctx)
	if m := instance.ExportedMemory("memory"); m != nil {
		view, _ := m.Read(0, m.Size())
		memory = bytes.Clone(view)
	}
	return memory, true, true
}
