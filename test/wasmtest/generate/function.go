package generate

import (
	"encoding/binary"
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
	"github.com/wardlet/wardlet/test/wasmtest"
)

// turns is the initial value of the counter in every function that is called from outside.
const turns = 40

// function is the code of a function that is being generated.
type function struct {
	*maker

	out    []byte
	result []module.ValueType
	locals map[module.ValueType][]uint32
	labels []label
}

// label is the target of a branch: the types of the values that the branch takes along, and whether
// the branch goes back.
type label struct {
	types []module.ValueType
	back  bool
}

// function generates the body of a function. An entry function sets the counter.
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

// spend decrements the counter, and leaves on the stack whether it was positive.
func (f *function) spend() {
	f.code(wasmtest.GlobalGet(counter), wasmtest.I32Const(1), wasmtest.I32Sub, wasmtest.GlobalSet(counter),
		wasmtest.GlobalGet(counter), wasmtest.I32Const(0), []byte{0x4a}) // i32.gt_s
}

func (f *function) local(t module.ValueType) uint32 {
	all := f.locals[t]
	return all[f.choose(len(all))]
}

// keep pops values off the stack, the last first, into variables or into nothing.
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

// enclosed writes a block of the kind around body. Branches to the block's label take types along.
func (f *function) enclosed(op module.Op, kind []byte, l label, body func()) {
	f.op(op)
	f.code(kind)
	f.labels = append(f.labels, l)
	body()
	f.labels = f.labels[:len(f.labels)-1]
	f.code(end)
}

// sometimes encloses body in an if, most of the time, so that the code after it is also reached.
func (f *function) sometimes(depth int, body func()) {
	if f.once(4) {
		body()
		return
	}
	f.value(module.I32, depth-1)
	f.enclosed(module.OpIf, empty, label{}, body)
}

var empty = []byte{0x40}
