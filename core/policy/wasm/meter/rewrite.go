package meter

import (
	"encoding/binary"
	"fmt"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// Names that a rewritten module uses, which no plugin may use itself.
const (
	// Module and Yield name the function, without parameters and results, that
	// the module imports.
	Module = "wardlet:meter"
	Yield  = "yield"
	// Fuel and Stack name the mutable i64 globals it exports: how much fuel is
	// left of the slice, and how many bytes of the stack's budget. Fuel begins
	// with 0, Stack with StackBudget.
	Fuel  = "wardlet:fuel"
	Stack = "wardlet:stack"
	// Global begins the names under which it exports its mutable numeric
	// globals, with their numbers after it.
	Global = "wardlet:global:"
)

// Rewritten is a module as it is compiled.
type Rewritten struct {
	Binary []byte
	// Globals are the names of the module's own mutable numeric globals.
	Globals []string
}

// Rewrite meters a module. The error is a *module.Fault: code that cannot be
// read, or that takes more than most bytes rewritten; 0 is no bound. m is not
// changed.
func Rewrite(m *module.Module, most int) (*Rewritten, error) {
	return (&rewriter{m: m}).rewrite(most)
}

func (w *rewriter) rewrite(most int) (*Rewritten, error) {
	m := w.m
	w.known, w.helpers = map[string]uint32{}, map[helper]uint32{}
	w.yield = uint32(m.ImportedFunctions)
	w.fuel, w.stack = uint32(len(m.Globals)), uint32(len(m.Globals))+1
	w.nothing = w.addType(nil, nil)
	if err := w.findDeep(); err != nil {
		return nil, err
	}
	bodies := make([][]byte, len(m.Bodies))
	size := 0
	for i := range m.Bodies {
		body, err := w.body(i)
		if err != nil {
			return nil, err
		}
		if size += len(body); most > 0 && size > most {
			return nil, tooLarge(m, i, most)
		}
		bodies[i] = body
	}
	return &Rewritten{Binary: w.assemble(bodies), Globals: w.globals}, nil
}

func tooLarge(m *module.Module, body, most int) error {
	code := module.Section{ID: module.SectionCode}
	return &module.Fault{
		Section: code.Name(), Index: m.ImportedFunctions + body, Offset: m.Bodies[body].Offset,
		What: fmt.Sprintf("with what counts its fuel the code has more than %d bytes: it has very many loops and blocks", most),
	}
}

// rewriter puts a module together anew. The functions that are not imported
// have one number more than they had, as Yield comes before them.
type rewriter struct {
	m     *module.Module
	yield uint32
	// fuel and stack are the numbers of the globals.
	fuel, stack uint32
	// types are those that are added, known their numbers; nothing is that of
	// a function without parameters and results.
	types   [][]byte
	known   map[string]uint32
	nothing uint32
	// each has every instruction charged when it is reached: for tests.
	each bool
	// deep says of the functions that are not imported which call others.
	deep []bool
	// helpers are the functions that are added, added their types and bodies.
	helpers map[helper]uint32
	added   []addedFunction
	globals []string
}

type addedFunction struct {
	signature uint32
	body      []byte
}

// function is a function's number in the rewritten module.
func (w *rewriter) function(index uint32) uint32 {
	if index >= w.yield {
		return index + 1
	}
	return index
}

// addType gives the number of a function type, which it adds.
func (w *rewriter) addType(params, results []module.ValueType) uint32 {
	encoded := []byte{0x60}
	for _, list := range [][]module.ValueType{params, results} {
		encoded = binary.AppendUvarint(encoded, uint64(len(list)))
		for _, t := range list {
			encoded = append(encoded, byte(t))
		}
	}
	if i, ok := w.known[string(encoded)]; ok {
		return i
	}
	index := uint32(len(w.m.Types) + len(w.types))
	w.types = append(w.types, encoded)
	w.known[string(encoded)] = index
	return index
}

// section appends a section.
func section(out []byte, id byte, payload []byte) []byte {
	out = append(out, id)
	out = binary.AppendUvarint(out, uint64(len(payload)))
	return append(out, payload...)
}

// assemble puts the sections together: the original ones in their order, what
// is added at the end of each, and those that were not there.
func (w *rewriter) assemble(bodies [][]byte) []byte {
	payloads := map[byte][]byte{}
	for _, s := range w.m.Sections {
		if s.ID != module.SectionCustom {
			payloads[s.ID] = s.Payload
		}
	}
	var types, functions []byte
	for _, t := range w.types {
		types = append(types, t...)
	}
	for _, f := range w.added {
		functions = binary.AppendUvarint(functions, uint64(f.signature))
		bodies = append(bodies, f.body)
	}
	payloads[module.SectionType] = lengthen(payloads[module.SectionType], len(w.types), types)
	payloads[module.SectionImport] = lengthen(payloads[module.SectionImport], 1, w.importYield())
	payloads[module.SectionFunction] = lengthen(payloads[module.SectionFunction], len(w.added), functions)
	payloads[module.SectionGlobal] = w.globalSection()
	payloads[module.SectionExport] = w.exportSection()
	if w.m.Start >= 0 {
		payloads[module.SectionStart] = binary.AppendUvarint(nil, uint64(w.function(uint32(w.m.Start))))
	}
	if len(w.m.Elements) > 0 {
		payloads[module.SectionElement] = w.elementSection()
	}
	payloads[module.SectionCode] = codeSection(bodies)
	if data, ok := payloads[module.SectionData]; ok && w.m.DataCount < 0 {
		payloads[module.SectionData] = joinData(w.m, data)
	}
	out := append([]byte(nil), "\x00asm\x01\x00\x00\x00"...)
	for _, id := range module.Order {
		if payload, ok := payloads[id]; ok {
			out = section(out, id, payload)
		}
	}
	return out
}

// lengthen appends n entries to a list that begins with its length.
func lengthen(list []byte, n int, entries []byte) []byte {
	count, size := uint64(0), 0
	if len(list) > 0 {
		count, size = binary.Uvarint(list)
	}
	out := binary.AppendUvarint(make([]byte, 0, len(list)+len(entries)+2), count+uint64(n))
	return append(append(out, list[size:]...), entries...)
}

func appendName(out []byte, name string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(name))), name...)
}

func (w *rewriter) importYield() []byte {
	out := appendName(appendName(nil, Module), Yield)
	return binary.AppendUvarint(append(out, byte(module.KindFunction)), uint64(w.nothing))
}

// globalSection is the module's globals, then fuel and stack.
func (w *rewriter) globalSection() []byte {
	own := w.m.Globals[w.m.ImportedGlobals:]
	out := binary.AppendUvarint(nil, uint64(len(own)+2))
	for i := range own {
		out = append(out, byte(own[i].Type), flag(own[i].Mutable))
		out = w.expression(out, own[i].Init)
	}
	for _, start := range []int64{0, StackBudget} {
		out = append(out, byte(module.I64), flag(true), byte(module.OpI64Const))
		out = append(appendSigned(out, start), byte(module.OpEnd))
	}
	return out
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// exportSection is what the module exports, its mutable numeric globals, fuel
// and stack.
func (w *rewriter) exportSection() []byte {
	var out []byte
	n := len(w.m.Exports)
	export := func(name string, kind module.Kind, index uint32) {
		out = binary.AppendUvarint(append(appendName(out, name), byte(kind)), uint64(index))
	}
	for i := range w.m.Exports {
		e := &w.m.Exports[i]
		index := e.Index
		if e.Kind == module.KindFunction {
			index = w.function(index)
		}
		export(e.Name, e.Kind, index)
	}
	for i := w.m.ImportedGlobals; i < len(w.m.Globals); i++ {
		if g := &w.m.Globals[i]; g.Mutable && g.Type.Numeric() {
			name := globalName(i)
			w.globals = append(w.globals, name)
			export(name, module.KindGlobal, uint32(i))
			n++
		}
	}
	export(Fuel, module.KindGlobal, w.fuel)
	export(Stack, module.KindGlobal, w.stack)
	return append(binary.AppendUvarint(nil, uint64(n+2)), out...)
}

func codeSection(bodies [][]byte) []byte {
	size := 5
	for _, b := range bodies {
		size += len(b) + 5
	}
	out := binary.AppendUvarint(make([]byte, 0, size), uint64(len(bodies)))
	for _, b := range bodies {
		out = append(binary.AppendUvarint(out, uint64(len(b))), b...)
	}
	return out
}
