package module

import "encoding/binary"

// The sections of a module, by the number each begins with.
const (
	SectionCustom byte = iota
	SectionType
	SectionImport
	SectionFunction
	SectionTable
	SectionMemory
	SectionGlobal
	SectionExport
	SectionStart
	SectionElement
	SectionCode
	SectionData
	SectionDataCount
)

var sectionNames = [...]string{
	"custom", "type", "import", "function", "table", "memory", "global", "export", "start", "element", "code", "data", "data count",
}

// Kind is what an import or export is.
type Kind byte

// The kinds of imports and exports.
const (
	KindFunction Kind = iota
	KindTable
	KindMemory
	KindGlobal
)

var kindNames = [...]string{"function", "table", "memory", "global"}

// String is the kind's name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "import of an unknown kind"
}

// ValueType is the type of a value.
type ValueType byte

// The types of values.
const (
	I32       ValueType = 0x7f
	I64       ValueType = 0x7e
	F32       ValueType = 0x7d
	F64       ValueType = 0x7c
	V128      ValueType = 0x7b
	FuncRef   ValueType = 0x70
	ExternRef ValueType = 0x6f
)

// valueTypeNames has an empty name for a byte that is no type.
var valueTypeNames = [256]string{
	I32: "i32", I64: "i64", F32: "f32", F64: "f64", V128: "v128", FuncRef: "funcref", ExternRef: "externref",
}

// String is the type's name.
func (t ValueType) String() string { return valueTypeNames[t] }

// Numeric says that a value of the type is a plain number of at most 64 bits.
func (t ValueType) Numeric() bool { return t >= F64 && t <= I32 }

// Module is what a module's sections say. Its slices are views of the bytes
// it was read from.
type Module struct {
	// Sections are those that mean something: custom ones are left out.
	Sections []Section
	Types    []FunctionType
	Imports  []Import
	// Functions, Tables, Memories and Globals begin with the imported ones.
	Functions []uint32 // the index of each one's type
	Tables    []Table
	Memories  []Memory
	Globals   []Global
	Exports   []Export
	// Start is the index of the start function, -1 where there is none.
	Start    int
	Elements []Element
	// Bodies has an entry for every function that is not imported.
	Bodies []Body
	Data   []Data
	// DataCount is what the section of that name says, -1 where there is none.
	DataCount int

	// ImportedFunctions and the others count the imported ones.
	ImportedFunctions, ImportedTables, ImportedMemories, ImportedGlobals int
	// Size is the module's length in bytes.
	Size int
}

// Section is a section as it stands in the module.
type Section struct {
	ID      byte
	Payload []byte
	// Offset is where the payload begins.
	Offset int
}

// Name is the section's name in the specification.
func (s *Section) Name() string { return sectionNames[s.ID] }

// FunctionType is a function's parameters and results.
type FunctionType struct{ Params, Results []ValueType }

// Import is something the module needs.
type Import struct {
	Module, Name string
	Kind         Kind
	// Type is the index of a function's type.
	Type   uint32
	Offset int
}

// Limits are how large a table or memory is, in elements or pages of 64 KiB.
type Limits struct {
	Min, Max uint64
	// Bounded says that there is a Max.
	Bounded bool
}

// Table is a table.
type Table struct {
	Limits

	Type   ValueType
	Offset int
}

// Memory is a linear memory.
type Memory struct {
	Limits

	Offset int
}

// Global is a global variable.
type Global struct {
	Type    ValueType
	Mutable bool
	// Init is the expression it begins with, nil for an imported one.
	Init   []byte
	Offset int
}

// Export is something that the module exports.
type Export struct {
	Name   string
	Kind   Kind
	Index  uint32
	Offset int
}

// Mode says when a segment is used.
type Mode byte

// The modes of segments.
const (
	Active Mode = iota
	Passive
	Declared // elements only: for ref.func
)

// Element is a segment of elements.
type Element struct {
	Mode  Mode
	Table uint32
	// At is the expression of where an active one goes.
	At   []byte
	Type ValueType
	// Functions are the elements by index; Expressions those of a segment
	// OfExpressions.
	OfExpressions bool
	Functions     []uint32
	Expressions   [][]byte
	Offset        int
}

// Len is how many elements there are.
func (e *Element) Len() int { return len(e.Functions) + len(e.Expressions) }

// Data is a segment of data.
type Data struct {
	Mode    Mode
	At      []byte
	Content []byte
	Offset  int
}

// Body is a function's code.
type Body struct {
	// Locals are the declared local variables, without parameters.
	Locals []LocalGroup
	// Count is how many they are, without parameters.
	Count uint64
	// Offset is where the body begins, CodeOffset where its instructions do.
	Offset, CodeOffset int
	// Size is the body's length in bytes, with its declarations.
	Size int
	// whole is the module up to the body's end.
	whole []byte
}

// LocalGroup is a row of local variables of one type.
type LocalGroup struct {
	Count uint32
	Type  ValueType
}

// header checks the first eight bytes of a module.
func header(data []byte) *Fault {
	fault := func(at int, what string) *Fault { return &Fault{Index: -1, Offset: at, What: what} }
	switch {
	case len(data) < 8 || string(data[:4]) != "\x00asm":
		return fault(0, "not a WebAssembly module: it does not begin with \\0asm and a version")
	case binary.LittleEndian.Uint16(data[6:]) == 1:
		return fault(4, "a WebAssembly component: build a core module (for Go: GOOS=wasip1 GOARCH=wasm, -buildmode=c-shared)")
	case binary.LittleEndian.Uint32(data[4:]) != 1:
		return fault(4, "a WebAssembly module of another version than 1")
	}
	return nil
}

// Type is the type of a function, imported or not.
func (m *Module) Type(function uint32) *FunctionType { return &m.Types[m.Functions[function]] }

// Export is the export of a name, nil where there is none.
func (m *Module) Export(name string) *Export {
	for i := range m.Exports {
		if m.Exports[i].Name == name {
			return &m.Exports[i]
		}
	}
	return nil
}
