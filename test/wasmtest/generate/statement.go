package generate

import (
	"encoding/binary"
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

func (f *function) statements(n, depth int) {
	for range n {
		if f.left <= 0 {
			return
		}
		f.statement(depth)
	}
}

// statement generates code that leaves the stack unchanged.
func (f *function) statement(depth int) {
	if depth <= 0 {
		f.op(module.OpNop)
		return
	}
	switch f.choose(24) {
	case 0:
		f.op(module.OpNop)
	case 1, 2, 3:
		t := valueTypes[f.choose(len(valueTypes))]
		f.value(t, depth)
		f.op(module.OpLocalSet, f.local(t))
	case 4, 5:
		t := valueTypes[f.choose(len(valueTypes))]
		f.value(t, depth)
		f.op(module.OpGlobalSet, variable(t))
	case 6, 7, 8, 9:
		f.apply(computing[nothing][f.choose(len(computing[nothing]))], depth)
	case 10, 11:
		f.value(module.I32, depth-1)
		f.enclosed(module.OpIf, empty, label{}, func() {
			f.statements(1+f.choose(2), depth-1)
			if f.once(2) {
				f.op(module.OpElse)
				f.statements(1+f.choose(2), depth-1)
			}
		})
	case 12:
		f.typed(depth)
	case 13, 14:
		f.loop(depth)
	case 15:
		f.branch(depth)
	case 16:
		f.branchTable(depth)
	case 17, 18:
		f.call(depth)
	case 19:
		f.leave(depth)
	case 20:
		f.onTable(depth)
	default:
		f.onMemory(depth)
	}
}

// typed generates a block with a function type, whose operands are stored in variables.
func (f *function) typed(depth int) {
	n := f.choose(typeImport)
	t := types[n]
	op := []module.Op{module.OpBlock, module.OpLoop, module.OpIf}[f.choose(3)]
	l := label{types: t.Results}
	if op == module.OpLoop {
		l = label{types: t.Params, back: true}
	}
	f.values(t.Params, depth-1)
	if op == module.OpIf {
		f.value(module.I32, depth-1)
	}
	f.enclosed(op, binary.AppendUvarint(nil, uint64(n)), l, func() {
		f.keep(t.Params)
		f.statements(1+f.choose(2), depth-1)
		f.values(t.Results, depth-1)
		if op == module.OpIf {
			f.op(module.OpElse)
			f.keep(t.Params)
			f.values(t.Results, depth-1)
		}
	})
	f.keep(t.Results)
}

// loop repeats statements, as often as the counter allows.
func (f *function) loop(depth int) {
	f.enclosed(module.OpLoop, empty, label{back: true}, func() {
		f.statements(1+f.choose(3), depth-1)
		f.spend()
		if f.once(3) {
			f.value(module.I32, depth-1)
		} else { // leave a part of the counter for later code
			f.code(wasmtest.GlobalGet(counter), wasmtest.I32Const(3), []byte{0x71}, wasmtest.I32Const(0), wasmtest.I32Ne)
		}
		f.code([]byte{0x71}) // i32.and
		f.op(module.OpBrIf, 0)
	})
}

// branch branches to an open block, and back only while the counter allows it.
func (f *function) branch(depth int) {
	to := f.choose(len(f.labels))
	l := f.labels[len(f.labels)-1-to]
	if !l.back && f.once(3) {
		f.sometimes(depth, func() {
			to := f.choose(len(f.labels))
			l := f.labels[len(f.labels)-1-to]
			if !l.back {
				f.values(l.types, depth-1)
				f.op(module.OpBr, uint32(to))
			}
		})
		return
	}
	f.values(l.types, depth-1)
	f.value(module.I32, depth-1)
	if l.back {
		f.spend()
		f.code([]byte{0x71}) // i32.and
	}
	f.op(module.OpBrIf, uint32(to))
	f.keep(l.types)
}

// branchTable branches to one of the open blocks whose labels have the same types.
func (f *function) branchTable(depth int) {
	f.sometimes(depth, func() {
		def := f.choose(len(f.labels))
		taken := f.labels[len(f.labels)-1-def]
		if taken.back {
			return
		}
		alike := []uint32{}
		for i, l := range f.labels {
			if !l.back && slices.Equal(l.types, taken.types) {
				alike = append(alike, uint32(len(f.labels)-1-i))
			}
		}
		f.values(taken.types, depth-1)
		f.value(module.I32, depth-1)
		n := f.choose(5)
		f.op(module.OpBrTable, uint32(n))
		for range n {
			f.out = binary.AppendUvarint(f.out, uint64(alike[f.choose(len(alike))]))
		}
		f.out = binary.AppendUvarint(f.out, uint64(def))
	})
}

// call calls a function, directly or through a table.
func (f *function) call(depth int) {
	number := f.choose(len(f.functions))
	t := types[f.functions[number]]
	f.values(t.Params, depth-1)
	if f.once(2) {
		f.op(module.OpCall, uint32(number))
	} else {
		if f.once(8) {
			f.value(module.I32, depth-1)
		} else {
			f.code(wasmtest.I32Const(int32(number)))
		}
		f.op(module.OpCallIndirect, uint32(f.functions[number]), uint32(f.choose(16)/15))
	}
	f.keep(t.Results)
}

// leave returns, or traps.
func (f *function) leave(depth int) {
	f.sometimes(depth, func() {
		if f.once(8) {
			f.op(module.OpUnreachable)
			return
		}
		f.values(f.result, depth-1)
		f.op(module.OpReturn)
	})
}
