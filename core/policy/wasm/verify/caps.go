package verify

import "github.com/wardlet/wardlet/core/policy/wasm/module"

// Caps bound the size and shape of a module. They do not affect honest guests: the
// largest functions of Go programs have 21 local variables, 50 KiB and, because
// each jump goes through a table of blocks, several hundred nested blocks.
type Caps struct {
	// Module is the size of the module in bytes, Code that of its code section, and
	// Metered that of the code after metering.
	Module, Code, Metered int
	// Body is the size of a function in bytes. Locals is the number of its local
	// variables without parameters. AllLocals is that of all functions together.
	Body, Locals, AllLocals int
	// Arity is the number of parameters and results of a function type together.
	Arity int
	// Nesting is the depth of nested blocks. NestingLocals replaces it in functions
	// with more than ManyLocals parameters and local variables.
	Nesting, NestingLocals, ManyLocals int
	// Loops is the number of loops in a function.
	Loops int
	// Product bounds a function's number of blocks and branches times its number of
	// local variables, because the compiler's time grows with that. Each label of a
	// br_table is a branch. The local variables include parameters and the three
	// that metering adds.
	Product int
	// Operands is the greatest height of the operand stack. Labels is the number of
	// labels of a br_table.
	Operands, Labels int
	// Tables is the number of tables, Entries that of the entries of all tables,
	// and Items that of the elements of all segments.
	Tables, Entries, Items int
	// Counts bound the elements of each section.
	Counts module.Caps
}

// Default returns the caps for plugins.
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
