package module

import "encoding/binary"

// These are the sections of a module, by their number in the module.
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

// Kind is the kind of an import or export.
type Kind byte

// The kinds of imports and exports.
const (
	KindFunction Kind = iota
	KindTable
	KindMemory
	KindGlobal
)

var kindNames = [...]string{"function", "table", "memory", "global"}

// String returns the kind's name.
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

// valueTypeNames are the names of the types, empty for a byte that is no type.
var valueTypeNames = [256]string{
	I32: "i32", I64: "i64", F32: "f32", F64: "f64", V128: "v128", FuncRef: "funcref", ExternRef: "externref",
}

// String returns the type's name.
func (t ValueType) String() string { return valueTypeNames[t] }

// Numeric reports whether a value of the type is a number of at most 64 bits.
func (t ValueType) Numeric() bool { return t >= F64 && t <= I32 }

// Module is the content of a module's sections. Its slices refer to the bytes from
// which it was read.
type Module struct {
	// Sections are all sections except custom ones.
	Sections []Section
	Types    []FunctionType
	Imports  []Import
	// Functions, Tables, Memories and Globals begin with the imported ones.
	Functions []uint32 // the index of each one's type
	Tables    []Table
	Memories  []Memory
	Globals   []Global
	Exports   []Export
	// Start is the index of the start function, -1 if there is none.
	Start    int
	Elements []Element
	// Bodies has an entry for every function that is not imported.
	Bodies []Body
	Data   []Data
	// DataCount is the content of the data count section, -1 if there is none.
	DataCount int

	// ImportedFunctions and the next fields are the numbers of imported items.
	ImportedFunctions, ImportedTables, ImportedMemories, ImportedGlobals int
	// Size is the module's length in bytes.
	Size int
}

// Section is a section of a module.
type Section struct {
	ID      byte
	Payload []byte
	// Offset is the offset of the payload.
	Offset int
}

// Name returns the section's name in the specification.
func (s *Section) Name() string { return sectionNames[s.ID] }

// FunctionType is the parameters and results of a function.
type FunctionType struct{ Params, Results []ValueType }

// Import is an import of the module.
type Import struct {
	Module, Name string
	Kind         Kind
	// Type is the index of a function's type. It is 0 for other kinds.
	Type   uint32
	Offset int
}

// Limits are the sizes of a table or memory, in elements or pages of 64 KiB.
type Limits struct {
	Min, Max uint64
	// Bounded reports whether the module declares a Max.
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
	// Init is the initial expression, nil for an imported global.
	Init   []byte
	Offset int
}

// Export is an export of the module.
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
	// At is the expression for the offset of an active segment.
	At   []byte
	Type ValueType
	// Functions are the elements as function indexes. Expressions are the elements
	// if OfExpressions is true.
	OfExpressions bool
	Functions     []uint32
	Expressions   [][]byte
	Offset        int
}

// Len returns how many elements there are.
func (e *Element) Len() int { return len(e.Functions) + len(e.Expressions) }

// Data is a segment of data.
type Data struct {
	Mode    Mode
	At      []byte
	Content []byte
	Offset  int
}

// Body is the code of a function.
type Body struct {
	// Locals are the declared local variables, without parameters.
	Locals []LocalGroup
	// Count is the number of local variables, without parameters.
	Count uint64
	// Offset is the offset of the body. CodeOffset is that of its first
	// instruction.
	Offset, CodeOffset int
	// Size is the body's length in bytes, including its declarations.
	Size int
	// whole is the module up to the end of the body.
	whole []byte
}

// LocalGroup is a number of successive local variables of one type.
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

// Type returns the type of a function, imported or not.
func (m *Module) Type(function uint32) *FunctionType { return &m.Types[m.Functions[function]] }

// Export returns the export with a name, nil if there is none.
func (m *Module) Export(name string) *Export {
	for i := range m.Exports {
		if m.Exports[i].Name == name {
			return &m.Exports[i]
		}
	}
	return nil
}
