package module

import "strings"

// Op is the code of an instruction: its first byte, or, for an instruction with a
// prefix, the prefix times 65536 plus the number after it.
type Op uint32

const (
	prefixBulk   = 0xfc
	prefixVector = 0xfd
)

// These are the instructions that the code treats individually.
const (
	OpUnreachable  Op = 0x00
	OpNop          Op = 0x01
	OpBlock        Op = 0x02
	OpLoop         Op = 0x03
	OpIf           Op = 0x04
	OpElse         Op = 0x05
	OpEnd          Op = 0x0b
	OpBr           Op = 0x0c
	OpBrIf         Op = 0x0d
	OpBrTable      Op = 0x0e
	OpReturn       Op = 0x0f
	OpCall         Op = 0x10
	OpCallIndirect Op = 0x11
	OpDrop         Op = 0x1a
	OpSelect       Op = 0x1b
	OpSelectTyped  Op = 0x1c
	OpLocalGet     Op = 0x20
	OpLocalSet     Op = 0x21
	OpLocalTee     Op = 0x22
	OpGlobalGet    Op = 0x23
	OpGlobalSet    Op = 0x24
	OpTableGet     Op = 0x25
	OpTableSet     Op = 0x26
	OpI32Store     Op = 0x36
	OpMemorySize   Op = 0x3f
	OpMemoryGrow   Op = 0x40
	OpI32Const     Op = 0x41
	OpI64Const     Op = 0x42
	OpF32Const     Op = 0x43
	OpF64Const     Op = 0x44
	OpRefNull      Op = 0xd0
	OpRefFunc      Op = 0xd2
	OpMemoryInit   Op = prefixBulk<<16 | 8
	OpDataDrop     Op = prefixBulk<<16 | 9
	OpMemoryCopy   Op = prefixBulk<<16 | 10
	OpMemoryFill   Op = prefixBulk<<16 | 11
	OpTableInit    Op = prefixBulk<<16 | 12
	OpElemDrop     Op = prefixBulk<<16 | 13
	OpTableCopy    Op = prefixBulk<<16 | 14
	OpTableGrow    Op = prefixBulk<<16 | 15
	OpTableSize    Op = prefixBulk<<16 | 16
	OpTableFill    Op = prefixBulk<<16 | 17
	OpV128Const    Op = prefixVector<<16 | 12
)

// Class groups instructions by their cost.
type Class byte

// The classes.
const (
	// Free: block, loop, else, end and nop, which do no work.
	Free Class = iota
	// Simple: constants, variables, comparisons, additions, jumps.
	Simple
	// Multiply: multiplications, and counting bits.
	Multiply
	// Divide: integer divisions and remainders.
	Divide
	// Float: additions, multiplications and comparisons of floats, conversions.
	Float
	// Root: float divisions and square roots.
	Root
	// Load and Store: one access to memory.
	Load
	Store
	// Calling: a direct call. Indirect: a call through a table.
	Calling
	Indirect
	// Jump: br_table.
	Jump
	// Vector: an instruction on 128 bits. VectorLong: one that compiles to several
	// machine instructions.
	Vector
	VectorLong
	// Bulk: instructions on ranges of memory or tables, and memory.grow. Their
	// length is charged, too.
	Bulk
)

// arguments is the kind of data that follows an instruction.
type arguments byte

const (
	none arguments = iota
	blockType
	label
	labels
	function
	indirect
	types
	local
	global
	table
	memoryArgument
	memory
	constI32
	constI64
	bytes4
	bytes8
	bytes16
	reference
	data
	dataMemory
	memoryMemory
	element
	elementTable
	tableTable
	lane
	memoryLane
)

// Info describes an instruction.
type Info struct {
	// Name is its name in the text format.
	Name  string
	Class Class
	// Pops and Pushes are how many operands the instruction takes and leaves. They
	// leave out operands whose number depends on a type.
	Pops, Pushes int
	// NaN is the type of the result if it may be a NaN whose bits the specification
	// does not define: F32, F64, or V128, for which Lanes is the type of the lanes;
	// otherwise 0.
	NaN, Lanes ValueType

	arguments arguments
}

// group is a sequence of similar instructions with successive numbers. The name "-"
// skips a number.
type group struct {
	first        Op
	class        Class
	pops, pushes int
	arguments    arguments
	names        string
}

// Info returns the description of an instruction, false if there is none with this
// number.
func (op Op) Info() (*Info, bool) {
	switch {
	case op < 256:
		return &plain[op], plain[op].Name != ""
	case op>>16 == prefixBulk && op&0xffff < Op(len(bulk)):
		return &bulk[op&0xffff], bulk[op&0xffff].Name != ""
	case op>>16 == prefixVector && op&0xffff < Op(len(vector)):
		return &vector[op&0xffff], vector[op&0xffff].Name != ""
	}
	return nil, false
}

// String returns the instruction's name.
func (op Op) String() string {
	if info, ok := op.Info(); ok {
		return info.Name
	}
	return "an unknown instruction"
}

var plain, bulk, vector = tables()

func tables() (plain, bulk [256]Info, vector [256]Info) {
	for _, g := range groups {
		into := &plain
		switch g.first >> 16 {
		case prefixBulk:
			into = &bulk
		case prefixVector:
			into = &vector
		}
		for i, name := range strings.Fields(g.names) {
			if name != "-" {
				into[int(g.first&0xffff)+i] = Info{Name: name, Class: g.class, Pops: g.pops, Pushes: g.pushes, arguments: g.arguments}
			}
		}
	}
	for _, into := range []*[256]Info{&plain, &vector} {
		for i := range into {
			markNaN(&into[i])
		}
	}
	return plain, bulk, vector
}

// arithmetic are the operations that may return a NaN with any bits.
const arithmetic = " ceil floor trunc nearest sqrt add sub mul div min max demote_f64 promote_f32 demote_f64x2_zero promote_low_f32x4 "

func markNaN(info *Info) {
	kind, operation, _ := strings.Cut(info.Name, ".")
	if !strings.Contains(arithmetic, " "+operation+" ") {
		return
	}
	switch kind {
	case "f32":
		info.NaN = F32
	case "f64":
		info.NaN = F64
	case "f32x4":
		info.NaN, info.Lanes = V128, F32
	case "f64x2":
		info.NaN, info.Lanes = V128, F64
	}
}
