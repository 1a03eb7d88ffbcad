package plane

import (
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// buffer is where a guest stores a setting, and room how many bytes it has there.
const (
	buffer = 4096
	room   = 1024
	// header is the length of what precedes the bytes of a value.
	header = 5
)

// telling returns a plugin whose answer is the setting answer, a number, and whose
// message is the setting says, a string.
func telling() []byte {
	m := w.Plugin(w.Setting, w.Reason)
	answer(m)
	return m.Bytes()
}

// answer adds the hook of telling to a module; the code first comes before it in the hook.
func answer(m *w.Module, first ...w.Code) {
	const code, says, answer = w.Texts, w.Texts + 16, w.Texts + 32
	m.Data(code, "Said")
	m.Data(says, "says")
	m.Data(answer, "answer")
	m.Admit(
		w.Join(first...),
		w.I32Const(code), w.I32Const(4), w.I32Const(buffer+header),
		w.I32Const(says), w.I32Const(4), w.I32Const(buffer), w.I32Const(room), w.Call(m.Imported("setting")),
		w.I32Const(header), w.I32Sub, w.Call(m.Imported("reason")),
		w.I32Const(answer), w.I32Const(6), w.I32Const(buffer), w.I32Const(room), w.Call(m.Imported("setting")), w.Drop,
		w.I32Const(buffer), w.I32Load(header),
	)
}

// The images that make a fragile plugin fail.
const (
	imageTraps = "t"
	imageLoops = "ll"
)

// fragile returns telling with a fault: it traps for images of one letter and loops for images
// of two. It is an operator's plugin whose fault a tenant has found.
func fragile() []byte {
	const (
		kind   = w.Input + 8 + 4 // after the area's header, the record's count and the handle
		length = kind + header + 4 + 1
	)
	m := w.Plugin(w.Path, w.Setting, w.Reason)
	m.Reads("object.spec.containers[*].image")
	answer(m,
		w.I32Const(length), w.I32Load(0), w.I32Const(1), w.I32Eq, w.If(w.Unreachable),
		w.I32Const(length), w.I32Load(0), w.I32Const(2), w.I32Eq, w.If(w.Loop(w.Br(0))),
	)
	return m.Bytes()
}
