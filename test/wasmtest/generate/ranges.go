package generate

import (
	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// lengths are lengths of memory ranges, near those at which the meter splits ranges.
var lengths = []int32{0, 1, 100, 300, 5, 1 << 14, 1<<14 + 1, 1<<16 - 1, 1 << 16, 1<<16 + 1, 100_000, 1<<17 + 1}

// small leaves a number on the stack, mostly below a power of two.
func (f *function) small(below int32, depth int) {
	f.value(module.I32, depth-1)
	if !f.once(32) {
		f.code(wasmtest.I32Const(below-1), []byte{0x71}) // i32.and
	}
}

// onMemory executes an instruction on a range of memory.
func (f *function) onMemory(depth int) {
	op := []module.Op{module.OpMemoryFill, module.OpMemoryCopy, module.OpMemoryInit, module.OpMemoryGrow, module.OpDataDrop}[f.choose(20)/4]
	if !f.counted && (op == module.OpMemoryInit || op == module.OpDataDrop) {
		op = module.OpMemoryFill
	}
	switch op {
	case module.OpMemoryFill:
		f.small(1<<15, depth)
		f.value(module.I32, depth-1)
		f.code(wasmtest.I32Const(lengths[f.choose(len(lengths))]))
		f.op(op, 0)
	case module.OpMemoryCopy:
		f.small(1<<16, depth)
		f.small(1<<16, depth)
		f.code(wasmtest.I32Const(lengths[f.choose(len(lengths))]))
		f.op(op, 0, 0)
	case module.OpMemoryInit:
		segment := f.choose(len(f.segments))
		f.small(1<<16, depth)
		f.small(4, depth)
		f.code(wasmtest.I32Const(int32(max(0, f.segments[segment]-f.choose(5)))))
		f.op(op, uint32(segment), 0)
	case module.OpMemoryGrow:
		f.small(2, depth)
		f.op(op, 0)
		f.keep(one(module.I32))
	case module.OpDataDrop:
		f.op(op, uint32(f.choose(len(f.segments))))
	}
}

// onTable executes an instruction that changes a table.
func (f *function) onTable(depth int) {
	table := f.choose(len(tables))
	t := tables[table].of
	switch f.choose(6) {
	case 0:
		f.small(4, depth)
		f.value(t, depth-1)
		f.op(module.OpTableSet, uint32(table))
	case 1:
		f.small(4, depth)
		f.value(t, depth-1)
		f.small(2, depth)
		f.op(module.OpTableFill, uint32(table))
	case 2:
		from := table
		if t == module.FuncRef {
			from = f.choose(2)
		}
		f.small(4, depth)
		f.small(4, depth)
		f.small(2, depth)
		f.op(module.OpTableCopy, uint32(table), uint32(from))
	case 3:
		const passive, expressions, dropped = 1, 5, 6 // the last is of externref and is used first
		segment := uint32(passive)
		if t == module.ExternRef {
			segment = dropped
		} else if f.once(2) {
			segment = expressions
		}
		f.small(4, depth)
		f.small(2, depth)
		f.small(2, depth)
		f.op(module.OpTableInit, segment, uint32(table))
	case 4:
		f.op(module.OpElemDrop, uint32(f.choose(8)))
	default:
		f.value(t, depth-1)
		f.small(2, depth)
		f.op(module.OpTableGrow, uint32(table))
		f.keep(one(module.I32))
	}
}

// fromTables leaves a property of a table, the memory or a reference on the stack, or a reference.
func (f *function) fromTables(t module.ValueType, depth int) {
	switch t {
	case module.I32:
		switch f.choose(4) {
		case 0:
			f.op(module.OpMemorySize, 0)
		case 1:
			f.op(module.OpTableSize, uint32(f.choose(len(tables))))
		default:
			f.value([]module.ValueType{module.FuncRef, module.ExternRef}[f.choose(2)], depth-1)
			f.op(0xd1) // ref.is_null
		}
	case module.FuncRef, module.ExternRef:
		table := uint32(f.choose(2))
		if t == module.ExternRef {
			table = 2
		}
		if f.once(2) {
			f.small(4, depth)
			f.op(module.OpTableGet, table)
		} else {
			f.constant(t)
		}
	default:
		f.simple(t)
	}
}
