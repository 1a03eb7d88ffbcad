package generate

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// Options select the kind of module.
type Options struct {
	// Settled makes the module replace every NaN whose bits the specification leaves open by the
	// canonical NaN, with a function of its own, so that all engines must return the same bits
	// without a meter.
	Settled bool
}

// Module is a module with the names of its exports, except its memory, "memory".
type Module struct {
	Binary []byte
	// Functions are to be called in this order, without arguments. The last reads what an embedder
	// cannot read: vectors in globals, and tables.
	Functions []string
	// Globals are the mutable globals of at most 64 bits.
	Globals []string
}

// The import of the module: a function (i32, i64) -> i32, which must return the same as See.
const (
	ImportModule = "test"
	ImportName   = "see"
)

// See is the imported function: its result depends only on its arguments.
func See(a uint32, b uint64) uint32 { return a*31 ^ uint32(b) ^ uint32(b>>32)*7 }

// The types that every module has.
const (
	typeNothing = iota
	typeNumber
	typeMixed
	typeVector
	typeThree
	typeReferences
	typeLong
	typeManyResults
	typeImport
	typeAll
	typeSettle32
	typeSettle64
	typeSettle128
	typeLook
)

var types = []module.FunctionType{
	typeNothing:     {},
	typeNumber:      {Params: one(module.I32), Results: one(module.I32)},
	typeMixed:       {Params: []module.ValueType{module.I64, module.F64}, Results: one(module.F32)},
	typeVector:      {Params: []module.ValueType{module.V128, module.I32}, Results: one(module.V128)},
	typeThree:       {Results: []module.ValueType{module.I32, module.I64, module.F64}},
	typeReferences:  {Params: []module.ValueType{module.F32, module.ExternRef, module.FuncRef}, Results: []module.ValueType{module.F64, module.FuncRef}},
	typeLong:        {Results: one(module.I64)},
	typeManyResults: {Params: []module.ValueType{module.I32, module.I64}, Results: []module.ValueType{module.F64, module.F32, module.V128}},
	typeImport:      {Params: []module.ValueType{module.I32, module.I64}, Results: one(module.I32)},
	typeAll:         {Results: []module.ValueType{module.I32, module.I64, module.F32, module.F64, module.V128}},
	typeSettle32:    {Params: one(module.F32), Results: one(module.F32)},
	typeSettle64:    {Params: one(module.F64), Results: one(module.F64)},
	typeSettle128:   {Params: one(module.V128), Results: one(module.V128)},
	typeLook:        {Results: slices.Repeat(one(module.I64), 2+len(tables))},
}

// The globals: the counter, and a variable and a constant of each type.
var (
	valueTypes = []module.ValueType{module.I32, module.I64, module.F32, module.F64, module.V128, module.FuncRef, module.ExternRef}
	counter    = uint32(0)
)

func variable(t module.ValueType) uint32 { return uint32(1 + slices.Index(valueTypes, t)) }
func constant(t module.ValueType) uint32 { return variable(t) + uint32(len(valueTypes)) }

// tables are the tables: their type, size and maximum size.
var tables = []struct {
	of       module.ValueType
	min, max byte
}{{module.FuncRef, 8, 12}, {module.FuncRef, 4, 5}, {module.ExternRef, 4, 9}}

// maker generates a module.
type maker struct {
	source
	Options

	// functions are the types of the functions that may be called; the imported function is the
	// first.
	functions []int
	// runs are the types of the functions that are called only from outside, because they reset the
	// counter.
	runs   []int
	bodies [][]byte
	// settle is the index of the first of the functions that settle NaNs.
	settle int
	// counted reports whether there is a data count section: then instructions may name data
	// segments. segments are the lengths of these segments.
	counted  bool
	segments []int
}

// first is the index of the first function that is not imported.
const first = 1

// New generates a module from bytes.
func New(from []byte, o Options) *Module {
	m := &maker{source: source{bytes: from, left: 600}, Options: o}
	m.counted = !m.once(3)
	m.segments = []int{5, 16, 0, 300}
	if m.once(8) {
		m.segments[3] = 70_000
	}
	start := m.once(8)
	m.functions = []int{typeImport, typeNothing}
	for range 1 + m.choose(4) {
		m.functions = append(m.functions, m.choose(typeImport))
	}
	inner := len(m.functions)
	for range 1 + m.choose(3) {
		m.runs = append(m.runs, []int{typeAll, typeThree, typeLong, typeNothing}[m.choose(4)])
	}
	m.settle = inner + len(m.runs)
	out := &Module{}
	exports := [][]byte{slices.Concat(sized("memory"), []byte{2, 0})}
	export := func(name string, kind byte, index int) {
		exports = append(exports, binary.AppendUvarint(append(sized(name), kind), uint64(index)))
	}
	for _, t := range m.functions[first:] {
		m.bodies = append(m.bodies, m.function(t, false))
	}
	for i, t := range m.runs {
		m.bodies = append(m.bodies, m.function(t, true))
		name := "run" + strconv.Itoa(i)
		out.Functions = append(out.Functions, name)
		export(name, 0, inner+i)
	}
	m.bodies = append(m.bodies, settle32, settle64, settleLanes(65, nan32x4), settleLanes(71, nan64x2), look())
	export("look", 0, m.settle+4)
	out.Functions = append(out.Functions, "look")
	for _, t := range append([]module.ValueType{module.I32}, valueTypes[:4]...) {
		index := variable(t)
		if len(out.Globals) == 0 {
			index = counter
		}
		name := "g" + strconv.Itoa(int(index))
		out.Globals = append(out.Globals, name)
		export(name, 3, int(index))
	}
	out.Binary = m.assemble(exports, start)
	return out
}

func (m *maker) assemble(exports [][]byte, start bool) []byte {
	var functionTypes, functions, codes [][]byte
	for i := range types {
		functionTypes = append(functionTypes, slices.Concat([]byte{0x60}, typeList(types[i].Params), typeList(types[i].Results)))
	}
	for _, t := range slices.Concat(m.functions[first:], m.runs, []int{typeSettle32, typeSettle64, typeSettle128, typeSettle128, typeLook}) {
		functions = append(functions, binary.AppendUvarint(nil, uint64(t)))
	}
	for _, b := range m.bodies {
		codes = append(codes, append(binary.AppendUvarint(nil, uint64(len(b))), b...))
	}
	var tableTypes [][]byte
	for _, t := range tables {
		tableTypes = append(tableTypes, []byte{byte(t.of), 1, t.min, t.max})
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, payload []byte) {
		out = append(binary.AppendUvarint(append(out, id), uint64(len(payload))), payload...)
	}
	section(module.SectionType, list(functionTypes))
	section(module.SectionImport, list([][]byte{slices.Concat(sized(ImportModule), sized(ImportName), []byte{0, typeImport})}))
	section(module.SectionFunction, list(functions))
	section(module.SectionTable, list(tableTypes))
	section(module.SectionMemory, []byte{1, 1, byte(2 + m.choose(2)), 5})
	section(module.SectionGlobal, list(m.globals()))
	section(module.SectionExport, list(exports))
	if start {
		section(module.SectionStart, []byte{first})
	}
	section(module.SectionElement, list(m.elements()))
	if m.counted {
		section(module.SectionDataCount, []byte{byte(len(m.segments))})
	}
	section(module.SectionCode, list(codes))
	section(module.SectionData, list(m.data()))
	return out
}

// globals returns the counter, then the variables, then the constants.
func (m *maker) globals() [][]byte {
	all := [][]byte{slices.Concat([]byte{byte(module.I32), 1}, wasmtest.I32Const(turns), end)}
	for _, mutable := range []byte{1, 0} {
		for _, t := range valueTypes {
			all = append(all, slices.Concat([]byte{byte(t), mutable}, m.initial(t), end))
		}
	}
	return all
}

var end = []byte{byte(module.OpEnd)}

// initial returns a constant of a type.
func (m *maker) initial(t module.ValueType) []byte {
	switch t {
	case module.FuncRef:
		if m.once(2) {
			return []byte{byte(module.OpRefFunc), byte(m.choose(len(m.functions)))}
		}
		return []byte{byte(module.OpRefNull), byte(t)}
	case module.ExternRef:
		return []byte{byte(module.OpRefNull), byte(t)}
	}
	op := constants[t]
	return append(Encode(op), Operand(op, m.choose)...)
}

var constants = map[module.ValueType]module.Op{
	module.I32: module.OpI32Const, module.I64: module.OpI64Const, module.F32: module.OpF32Const, module.F64: module.OpF64Const,
	module.V128: module.OpV128Const,
}

// elements returns element segments of all eight kinds. The first puts every function that may be
// called into table 0, at the function's own index, as long as there is room. The fourth declares
// all functions.
func (m *maker) elements() [][]byte {
	n := byte(min(len(m.functions), int(tables[0].min)))
	numbers := make([]byte, len(m.functions))
	for i := range numbers {
		numbers[i] = byte(i)
	}
	pick := func() byte { return byte(m.choose(len(m.functions))) }
	none := []byte{byte(module.OpRefNull), byte(module.FuncRef), byte(module.OpEnd)}
	reference := func() []byte { return []byte{byte(module.OpRefFunc), pick(), byte(module.OpEnd)} }
	zero := slices.Concat(wasmtest.I32Const(0), end)
	return [][]byte{
		slices.Concat([]byte{0}, zero, []byte{n}, numbers[:n]),
		{1, 0, 3, pick(), pick(), pick()},
		slices.Concat([]byte{2, 1}, zero, []byte{0, 2, pick(), pick()}),
		slices.Concat([]byte{3, 0, byte(len(numbers))}, numbers),
		slices.Concat([]byte{4}, wasmtest.I32Const(7), end, []byte{1}, reference()),
		slices.Concat([]byte{5, byte(module.FuncRef), 2}, none, reference()),
		slices.Concat([]byte{6, 2}, zero, []byte{byte(module.ExternRef), 1, byte(module.OpRefNull), byte(module.ExternRef), byte(module.OpEnd)}),
		slices.Concat([]byte{7, byte(module.FuncRef), 1}, reference()),
	}
}

// data returns data segments. If instructions cannot name them, all are active, and some are
// adjacent.
func (m *maker) data() [][]byte {
	var all [][]byte
	address := 40
	for i, n := range m.segments {
		content := make([]byte, n)
		for j := range content {
			content[j] = byte(j*7 + i + 1)
		}
		head := []byte{1}
		if !m.counted || i == 0 {
			head = slices.Concat([]byte{0}, wasmtest.I32Const(int32(address)), end)
			address += n + []int{0, 3, 200}[m.choose(3)]
		}
		all = append(all, slices.Concat(head, binary.AppendUvarint(nil, uint64(n)), content))
	}
	return all
}

func typeList(types []module.ValueType) []byte {
	out := []byte{byte(len(types))}
	for _, t := range types {
		out = append(out, byte(t))
	}
	return out
}

func sized(name string) []byte { return append([]byte{byte(len(name))}, name...) }

func list(elements [][]byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(len(elements))), slices.Concat(elements...)...)
}
