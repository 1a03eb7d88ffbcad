package compile

import (
	"encoding/binary"
	"slices"

	w "github.com/wardlet/wardlet/test/wasmtest"
)

// small returns a module of a few bytes, a different one for each n.
func small(n int32) []byte {
	m := w.New()
	m.Export("f", m.Func(nil, []w.Type{w.I32}, nil, w.I32Const(n)))
	return m.Bytes()
}

// bomb returns a module whose only function changes the locals in nested loops. Its length
// grows with the sum of the two numbers, the work to compile it with their product.
func bomb(locals uint32, loops int) []byte {
	var body w.Code
	for i := range locals {
		body = append(body, w.Join(w.LocalGet(i), w.LocalGet((i+1)%locals), w.I32Add, w.LocalSet(i))...)
	}
	for range loops {
		body = w.Loop(body, w.LocalGet(0), w.BrIf(0))
	}
	m := w.New()
	m.Export("f", m.Func(nil, nil, slices.Repeat([]w.Type{w.I32}, int(locals)), body))
	return m.Bytes()
}

// broad returns an honest module of about size bytes: many functions of a kilobyte, as
// compilers produce them.
func broad(size int) []byte {
	m := w.New()
	memory := w.Code{}
	for i := range int32(64) {
		memory = append(memory, w.Join(
			w.LocalGet(0), w.I32Load(uint32(i)*4), w.LocalGet(1), w.I32Add, w.LocalSet(1),
			w.LocalGet(1), w.If(w.LocalGet(0), w.LocalGet(1), w.I32Store(uint32(i)*8)),
		)...)
	}
	m.Memory(1)
	for made := 0; made < size; made += len(memory) {
		n := binary.AppendUvarint(nil, uint64(made))
		m.Func([]w.Type{w.I32}, []w.Type{w.I32}, []w.Type{w.I32}, memory, w.I32Const(int32(len(n)+made)), w.LocalGet(1), w.I32Add)
	}
	return m.Bytes()
}
