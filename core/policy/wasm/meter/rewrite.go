package meter

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// These names are used by rewritten modules. No plugin may use them itself.
const (
	// Module and Yield are the names of the function that the module imports. It
	// has no parameters and no results.
	Module = "wardlet:meter"
	Yield  = "yield"
	// Fuel and Stack are the names of the mutable i64 globals that the module
	// exports. Fuel is how much fuel is left of the slice, and is initially 0.
	// Stack is how many bytes are left of the stack's budget, and is initially
	// StackBudget.
	Fuel  = "wardlet:fuel"
	Stack = "wardlet:stack"
	// Global is the prefix of the names under which the module exports its own
	// mutable numeric globals. Their numbers follow it.
	Global = "wardlet:global:"
)

// Rewritten is a module in the form in which it is compiled.
type Rewritten struct {
	Binary []byte
	// Globals are the names of the module's own mutable numeric globals.
	Globals []string
	// CodeBytes is the length of the rewritten code section.
	CodeBytes int
}

// Rewritten code has at most maxTimes as many bytes as the original, plus
// spareBytes. The output of compilers does not come near that limit, and compiling
// more code takes time.
const (
	maxTimes   = 16
	spareBytes = 16 << 10
)

// smallCode is the initial capacity for the rewritten code of small modules, whose
// code may become many times as long.
const smallCode = 96 << 10

// Rewrite meters a module. The error is a *module.Fault if the code cannot be read,
// or if the rewritten code would have more than most bytes, or many times the bytes
// of the original; if most is 0, neither is bounded. m is not changed.
//
// It takes time in proportion to the lengths of the module and of the result. It
// stops between two functions when ctx is done.
func Rewrite(ctx context.Context, m *module.Module, most int) (*Rewritten, error) {
	return (&rewriter{m: m}).rewrite(ctx, most)
}

func (w *rewriter) rewrite(ctx context.Context, most int) (*Rewritten, error) {
	m := w.m
	w.known, w.helpers = map[string]uint32{}, map[helper]uint32{}
	w.yield = uint32(m.ImportedFunctions)
	w.fuel, w.stack = uint32(len(m.Globals)), uint32(len(m.Globals))+1
	w.nothing = w.addType(nil, nil)
	if err := w.findDeep(ctx); err != nil {
		return nil, err
	}
	had := codeBytes(m)
	if most > 0 {
		w.most = min(most, maxTimes*had+spareBytes)
	}
	w.code = make([]byte, 0, max(2*had, min(w.most, smallCode)))
	w.planning.grow(largest(m))
	ends := make([]int, len(m.Bodies))
	for i := range m.Bodies {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := w.body(i); err != nil {
			return nil, err
		}
		if ends[i] = len(w.code); w.outgrown(len(w.code)) {
			return nil, tooLarge(m, i, w.most)
		}
	}
	bodies, begin := make([][]byte, len(ends)), 0
	for i, end := range ends {
		bodies[i], begin = w.code[begin:end:end], end
	}
	whole, size := w.assemble(bodies)
	return &Rewritten{Binary: whole, Globals: w.globals, CodeBytes: size}, nil
}

// largest returns the length of the longest function.
func largest(m *module.Module) (n int) {
	for i := range m.Bodies {
		n = max(n, m.Bodies[i].Size)
	}
	return n
}

// codeBytes returns the total length of the module's functions.
func codeBytes(m *module.Module) (n int) {
	for i := range m.Bodies {
		n += m.Bodies[i].Size
	}
	return n
}

// outgrown reports whether there is too much code if the functions have code bytes.
func (w *rewriter) outgrown(code int) bool { return w.most > 0 && code+w.helperBytes > w.most }

func tooLarge(m *module.Module, body, most int) error {
	code := module.Section{ID: module.SectionCode}
	return &module.Fault{
		Section: code.Name(), Index: m.ImportedFunctions + body, Offset: m.Bodies[body].Offset,
		What: fmt.Sprintf("with what counts its fuel the code has more than %d bytes: it has very many loops and blocks", most),
	}
}

// rewriter rewrites a module. The number of each function that is not imported
// rises by one, because Yield comes before them.
type rewriter struct {
	m     *module.Module
	yield uint32
	// fuel and stack are the numbers of these globals.
	fuel, stack uint32
	// types are the types that are added. known are their numbers. nothing is the
	// number of the type of a function without parameters and results.
	types   [][]byte
	known   map[string]uint32
	nothing uint32
	// each: every instruction is charged when it is reached. It is for tests.
	each bool
	// deep reports for each function that is not imported whether it calls others.
	deep []bool
	// helpers are the numbers of the added functions. added are their types and
	// bodies.
	helpers map[helper]uint32
	added   []addedFunction
	globals []string
	// most is how many bytes of code there may be, 0 for no limit.
	most int
	// code are the bodies so far, one after the other. helperBytes is the length of
	// the added functions.
	code        []byte
	helperBytes int
	// The other fields are reused for each function.
	reading   module.Code
	planning  planning
	rewriting rewriting
	ends      []uint64
	signature []byte
}

type addedFunction struct {
	signature uint32
	body      []byte
}

// function returns the number of a function in the rewritten module.
func (w *rewriter) function(index uint32) uint32 {
	if index >= w.yield {
		return index + 1
	}
	return index
}

// addType returns the number of a function type. It adds the type if necessary.
func (w *rewriter) addType(params, results []module.ValueType) uint32 {
	encoded := w.signature[:0]
	encoded = append(encoded, 0x60)
	for _, list := range [][]module.ValueType{params, results} {
		encoded = binary.AppendUvarint(encoded, uint64(len(list)))
		for _, t := range list {
			encoded = append(encoded, byte(t))
		}
	}
	w.signature = encoded
	if i, ok := w.known[string(encoded)]; ok {
		return i
	}
	index := uint32(len(w.m.Types) + len(w.types))
	w.types = append(w.types, bytes.Clone(encoded))
	w.known[string(encoded)] = index
	return index
}

// section appends a section.
func section(out []byte, id byte, payload []byte) []byte {
	out = append(out, id)
	out = binary.AppendUvarint(out, uint64(len(payload)))
	return append(out, payload...)
}

// assemble returns the rewritten module: the original sections in their order, with
// additions at the end of each, and new sections. It also returns the length of the
// code section.
func (w *rewriter) assemble(bodies [][]byte) ([]byte, int) {
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
	size := 8
	for _, payload := range payloads {
		size += len(payload) + 6
	}
	out := append(make([]byte, 0, size), "\x00asm\x01\x00\x00\x00"...)
	for _, id := range module.Order {
		if payload, ok := payloads[id]; ok {
			out = section(out, id, payload)
		}
	}
	return out, len(payloads[module.SectionCode])
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

// globalSection returns the module's globals, then fuel and stack.
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

// exportSection returns the module's exports, then its mutable numeric globals,
// fuel and stack.
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
