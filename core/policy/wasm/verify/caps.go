package verify

import "github.com/wardlet/wardlet/core/policy/wasm/module"

// Caps bound a module's size and shape. They leave honest guests alone: the
// largest functions of Go's have 21 local variables, 50 KiB and, as each jump
// goes through a table of blocks, several hundred blocks in each other.
type Caps struct {
	// Module and Code are the bytes of the module and of its code section,
	// Metered those of the code with what counts its fuel.
	Module, Code, Metered int
	// Body are the bytes of a function, Locals its local variables without
	// parameters, AllLocals those of all functions.
	Body, Locals, AllLocals int
	// Arity are the parameters and results of a function type together.
	Arity int
	// Nesting is how deep blocks lie in each other, NestingLocals the same
	// where a function has more than ManyLocals parameters and locals.
	Nesting, NestingLocals, ManyLocals int
	// Loops are those of a function.
	Loops int
	// Product is how many blocks and branches a function has, those of a
	// br_table each, times its local variables and the three that metering adds:
	// what the compiler's time grows with.
	Product int
	// Operands is the highest that the operand stack may stand, Labels how many
	// a br_table may have.
	Operands, Labels int
	// Tables, Entries and Items are the tables, their entries together, and the
	// elements of all segments.
	Tables, Entries, Items int
	// Counts are the elements of each section.
	Counts module.Caps
}

// Default are the caps of plugins.
func Default() Caps {
	c := Caps{
		Module: 4 << 20, Code: 3 << 20, Metered: 8 << 20,
		Body: 64 << 10, Locals: 1000, AllLocals: 1 << 18, Arity: 64,
		Nesting: 2048, NestingLocals: 64, ManyLocals: 100, Loops: 1000, Product: 200_000,
		Operands: 1024, Labels: 4096,
		Tables: 16, Entries: 1 << 16, Items: 1 << 16,
	}
	c.Counts = module.Caps{
		module.SectionType: 4096, module.SectionImport: 256, module.SectionFunction: 10_000,
		module.SectionTable: 16, module.SectionMemory: 1, module.SectionGlobal: 1000, module.SectionExport: 1000,
		module.SectionElement: 1024, module.SectionCode: 10_000, module.SectionData: 1 << 16,
	}
	return c
}
