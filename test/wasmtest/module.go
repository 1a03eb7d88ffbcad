package wasmtest

import (
	"encoding/binary"
	"slices"
)

// Type is a value type.
type Type byte

// The value types.
const (
	I32     Type = 0x7f
	I64     Type = 0x7e
	F32     Type = 0x7d
	F64     Type = 0x7c
	V128    Type = 0x7b
	FuncRef Type = 0x70
)

// Func is a function's index.
type Func uint32

// Import is a function that a module imports.
type Import struct {
	Module, Name    string
	Params, Results []Type
}

// Module is a module under construction. Its functions, globals and memories are numbered in the
// order in which they are added.
type Module struct {
	imports []Import
	types   [][]byte
	functions,
	memories, globals, exports, code, data [][]byte
	start    []byte
	replaced map[byte][]byte
}

// New starts a module. The imports are its first functions.
func New(imports ...Import) *Module {
	return &Module{imports: imports, replaced: map[byte][]byte{}}
}

// Imported returns the import with that name; the module must have one.
func (m *Module) Imported(name string) Func {
	return Func(slices.IndexFunc(m.imports, func(i Import) bool { return i.Name == name }))
}

// Func adds a function. Its locals are numbered after its parameters.
func (m *Module) Func(params, results, locals []Type, body ...Code) Func {
	m.functions = append(m.functions, m.typeIndex(params, results))
	text := binary.AppendUvarint(nil, uint64(len(locals)))
	for _, t := range locals {
		text = append(text, 1, byte(t))
	}
	text = append(append(text, Join(body...)...), 0x0b)
	m.code = append(m.code, sized(text))
	return Func(len(m.imports) + len(m.functions) - 1)
}

// Export exports a function.
func (m *Module) Export(name string, f Func) {
	m.exports = append(m.exports, slices.Concat(sized([]byte(name)), []byte{0}, binary.AppendUvarint(nil, uint64(f))))
}

// Memory adds a memory of that many pages, and exports it as "memory" if it is
// the first.
func (m *Module) Memory(pages uint32) {
	if len(m.memories) == 0 {
		m.exports = append(m.exports, append(sized([]byte("memory")), 2, 0))
	}
	m.memories = append(m.memories, binary.AppendUvarint([]byte{0}, uint64(pages)))
}

// Global adds a global and returns its index. init is one constant instruction.
func (m *Module) Global(t Type, mutable bool, init Code) uint32 {
	flag := byte(0)
	if mutable {
		flag = 1
	}
	m.globals = append(m.globals, slices.Concat([]byte{byte(t), flag}, init, Code{0x0b}))
	return uint32(len(m.globals) - 1)
}

// Data initializes the memory at address with text.
func (m *Module) Data(address int32, text string) {
	m.data = append(m.data, slices.Concat([]byte{0}, I32Const(address), Code{0x0b}, sized([]byte(text))))
}

// Start makes f run when the module is instantiated.
func (m *Module) Start(f Func) { m.start = binary.AppendUvarint([]byte{}, uint64(f)) }

// Replace replaces the content of a section, to build broken modules.
func (m *Module) Replace(section byte, content []byte) { m.replaced[section] = content }

// Bytes returns the encoded module.
func (m *Module) Bytes() []byte {
	imports := make([][]byte, len(m.imports))
	for i, f := range m.imports {
		imports[i] = slices.Concat(sized([]byte(f.Module)), sized([]byte(f.Name)), []byte{0}, m.typeIndex(f.Params, f.Results))
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range []struct {
		id      byte
		content []byte
	}{
		{1, vector(m.types)},
		{2, vector(imports)},
		{3, vector(m.functions)},
		{4, nil},
		{5, vector(m.memories)},
		{6, vector(m.globals)},
		{7, vector(m.exports)},
		{8, m.start},
		{9, nil},
		{10, vector(m.code)},
		{11, vector(m.data)},
	} {
		content := s.content
		if other, ok := m.replaced[s.id]; ok {
			content = other
		}
		if content != nil {
			out = append(append(out, s.id), sized(content)...)
		}
	}
	return out
}

// typeIndex returns the encoded index of a function type, and adds the type if it is new.
func (m *Module) typeIndex(params, results []Type) []byte {
	t := []byte{0x60}
	for _, list := range [][]Type{params, results} {
		t = binary.AppendUvarint(t, uint64(len(list)))
		for _, v := range list {
			t = append(t, byte(v))
		}
	}
	i := slices.IndexFunc(m.types, func(known []byte) bool { return string(known) == string(t) })
	if i < 0 {
		i = len(m.types)
		m.types = append(m.types, t)
	}
	return binary.AppendUvarint(nil, uint64(i))
}

// vector returns a list with its length before it, nil for an empty list.
func vector(elements [][]byte) []byte {
	if len(elements) == 0 {
		return nil
	}
	return append(binary.AppendUvarint(nil, uint64(len(elements))), slices.Concat(elements...)...)
}

func sized(content []byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(content))), content...)
}
