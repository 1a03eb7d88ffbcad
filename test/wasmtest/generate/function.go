package generate

import (
	"encoding/binary"
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// turns is what the counter begins with in every function that is called from
// outside.
const turns = 40

// function is a function's code while it is made.
type function struct {
	*maker

	out    []byte
	result []module.ValueType
	locals map[module.ValueType][]uint32
	labels []label
}

// label is where a branch may go: what it takes along, and whether that is
// back.
type label struct {
	types []module.ValueType
	back  bool
}

// function makes the body of a function. An entry sets the counter.
func (m *maker) function(t int, entry bool) []byte {
	f := &function{maker: m, result: types[t].Results, locals: map[module.ValueType][]uint32{}}
	n := uint32(0)
	for _, p := range types[t].Params {
		f.locals[p] = append(f.locals[p], n)
		n++
	}
	declared := []byte{byte(len(valueTypes))}
	for _, v := range valueTypes {
		count := 1 + m.choose(3)
		declared = append(declared, byte(count), byte(v))
		for range count {
			f.locals[v] = append(f.locals[v], n)
			n++
		}
	}
	f.labels = []label{{types: f.result}}
	if entry {
		f.code(wasmtest.I32Const(turns), wasmtest.GlobalSet(counter))
	} else {
		f.spend()
		f.code([]byte{0x45, 0x04, 0x40}) // i32.eqz, if
		for _, v := range f.result {
			f.constant(v)
		}
		f.code(wasmtest.Return, end)
	}
	f.statements(1+m.choose(6), 3)
	for _, v := range f.result {
		f.value(v, 3)
	}
	return slices.Concat(declared, f.out, end)
}

func (f *function) code(pieces ...[]byte) {
	for _, p := range pieces {
		f.out = append(f.out, p...)
	}
}

// op appends an instruction with indices.
func (f *function) op(op module.Op, indices ...uint32) {
	f.left--
	f.out = append(f.out, Encode(op)...)
	for _, i := range indices {
		f.out = binary.AppendUvarint(f.out, uint64(i))
	}
}

// spend takes one from the counter, and leaves whether that was there.
func (f *function) spend() {
	f.code(wasmtest.GlobalGet(counter), wasmtest.I32Const(1), wasmtest.I32Sub, wasmtest.GlobalSet(counter),
		wasmtest.GlobalGet(counter), wasmtest.I32Const(0), []byte{0x4a}) // i32.gt_s
}

func (f *function) local(t module.ValueType) uint32 {
	all := f.locals[t]
	return all[f.choose(len(all))]
}

// keep takes values off the stack, the last first.
func (f *function) keep(types []module.ValueType) {
	for _, t := range slices.Backward(types) {
		if f.once(4) {
			f.op(module.OpDrop)
		} else {
			f.op(module.OpLocalSet, f.local(t))
		}
	}
}

func (f *function) values(types []module.ValueType, depth int) {
	for _, t := range types {
		f.value(t, depth)
	}
}

// enclosed opens a block of the kind, whose label takes types along, and closes
// it after body.
func (f *function) enclosed(op module.Op, kind []byte, l label, body func()) {
	f.op(op)
	f.code(kind)
	f.labels = append(f.labels, l)
	body()
	f.labels = f.labels[:len(f.labels)-1]
	f.code(end)
}

// sometimes encloses what is done in an if, so that the rest is reached too.
func (f *function) sometimes(depth int, body func()) {
	if f.once(4) {
		body()
		return
	}
	f.value(module.I32, depth-1)
	f.enclosed(module.OpIf, empty, label{}, body)
}

var empty = []byte{0x40}
