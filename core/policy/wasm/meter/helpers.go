package meter

import "github.com/wardlet/wardlet/core/policy/wasm/module"

// helper names a function that does what an instruction on a range does, and
// charges for its length.
type helper struct {
	op            module.Op
	index, second uint32
}

// helper returns the number of the function that takes an instruction's place.
func (w *rewriter) helper(in *module.Instruction) uint32 {
	key := helper{in.Op, in.Index, in.Second}
	if number, ok := w.helpers[key]; ok {
		return number
	}
	h := &help{emitter: emitter{make([]byte, 0, 256)}, w: w, raw: in.Raw}
	three := []module.ValueType{module.I32, module.I32, module.I32}
	var params, results []module.ValueType
	switch in.Op {
	case module.OpMemoryGrow:
		params, results = three[:1], three[:1]
		h.grow(1, fuelPerPage)
	case module.OpTableGrow:
		params, results = []module.ValueType{w.m.Tables[in.Index].Type, module.I32}, three[:1]
		h.grow(2, fuelPerElement)
	case module.OpTableFill:
		params = []module.ValueType{module.I32, w.m.Tables[in.Index].Type, module.I32}
		h.table(in.Index)
	case module.OpTableCopy, module.OpTableInit:
		params = three
		table := in.Index
		if in.Op == module.OpTableInit {
			table = in.Second
		}
		h.table(table)
	default:
		params = three
		h.memory(in)
	}
	h.op(module.OpEnd)
	number := uint32(len(w.m.Functions) + 1 + len(w.added))
	w.helpers[key] = number
	body := h.body()
	w.helperBytes += len(body)
	w.added = append(w.added, addedFunction{signature: w.addType(params, results), body: body})
	return number
}

// help is a helper's code while it is written. Of its parameters, the last is
// the length.
type help struct {
	emitter

	w *rewriter
	// raw is the instruction itself.
	raw []byte
}

// The local variables of a helper with three parameters.
const (
	to = iota
	from
	length
	left // i64
)

// body puts the declarations before the code: an i64 after the parameters,
// then an i32.
func (h *help) body() []byte {
	declared := []byte{2, 1, byte(module.I64), 1, byte(module.I32)}
	return append(declared, h.out...)
}

func (h *help) get(local uint32) { h.indexed(module.OpLocalGet, local) }
func (h *help) set(local uint32) { h.indexed(module.OpLocalSet, local) }

// self appends the instruction itself, on the three parameters.
func (h *help) self() {
	h.get(to)
	h.get(from)
	h.get(length)
	h.out = append(h.out, h.raw...)
}

// charge takes fuel: a unit for each of that many bytes or elements, in i64 on
// the stack, is left there by what is called before. It asks the host where it
// is not there.
func (h *help) charge(local uint32) {
	h.set(local)
	h.indexed(module.OpGlobalGet, h.w.fuel)
	h.get(local)
	h.op(opI64Sub)
	h.indexed(module.OpLocalTee, local)
	h.indexed(module.OpGlobalSet, h.w.fuel)
	h.get(local)
	h.i64(0)
	h.op(opI64LtS)
	h.begin(module.OpIf)
	h.yield()
	h.op(module.OpEnd)
}

func (h *help) yield() { h.indexed(module.OpCall, h.w.yield) }

// wideLength leaves the length as an i64.
func (h *help) wideLength() {
	h.get(length)
	h.op(opI64Extend)
}

// table charges for the length, if it lies within the table, and then does it.
func (h *help) table(table uint32) {
	h.get(length)
	h.indexed(module.OpTableSize, table)
	h.op(opI32LeU)
	h.begin(module.OpIf)
	h.wideLength()
	h.i64(fuelPerElement)
	h.op(opI64Mul)
	h.charge(left)
	h.op(module.OpEnd)
	h.self()
}

// grow grows by the last parameter, and charges for it where it was done.
func (h *help) grow(params, fuel uint32) {
	for i := range params {
		h.get(i)
	}
	h.out = append(h.out, h.raw...)
	wide, result := params, params+1
	h.indexed(module.OpLocalTee, result)
	h.i32(-1)
	h.op(opI32Eq)
	h.begin(module.OpIf)
	h.op(module.OpElse)
	h.get(params - 1)
	h.op(opI64Extend)
	h.i64(int64(fuel))
	h.op(opI64Mul)
	h.charge(wide)
	h.op(module.OpEnd)
	h.get(result)
}

// memory does an instruction on a range of memory in pieces. The whole range
// is checked first: where it does not lie in the memory nothing of it is
// written.
func (h *help) memory(in *module.Instruction) {
	h.get(length)
	h.i32(pieceBytes)
	h.op(opI32GtU)
	h.begin(module.OpIf)
	h.trapOutside(to)
	switch op := in.Op; op {
	case module.OpMemoryCopy:
		h.trapOutside(from)
		h.get(to)
		h.get(from)
		h.op(opI32LeU)
		h.begin(module.OpIf)
		h.upwards(op)
		h.op(module.OpElse)
		h.downwards()
		h.op(module.OpEnd)
	case module.OpMemoryInit:
		h.trapOutsideSegment(in.Index)
		h.upwards(op)
	default:
		h.upwards(op)
	}
	h.op(module.OpEnd)
	h.wideLength()
	h.i64(units)
	h.op(opI64ShrU)
	h.charge(left)
	h.self()
	h.get(length)
	h.i32(yieldBytes)
	h.op(opI32GtU)
	h.begin(module.OpIf)
	h.yield()
	h.op(module.OpEnd)
}

// units is the power of two that bytesPerUnit is.
const units = 3

// trapOutside does the instruction whole, so that it traps, where the range at
// a parameter does not end within the memory.
func (h *help) trapOutside(at uint32) {
	h.get(at)
	h.op(opI64Extend)
	h.wideLength()
	h.op(opI64Add)
	h.memorySize()
	h.trapAbove()
}

func (h *help) memorySize() {
	const pageBits = 16
	h.op(module.OpMemorySize)
	h.out = append(h.out, 0)
	h.op(opI64Extend)
	h.i64(pageBits)
	h.op(opI64Shl)
}

// trapOutsideSegment is trapOutside for the segment that memory.init reads.
func (h *help) trapOutsideSegment(index uint32) {
	h.get(from)
	h.op(opI64Extend)
	h.wideLength()
	h.op(opI64Add)
	h.i64(int64(len(h.w.m.Data[index].Content)))
	h.trapAbove()
}

func (h *help) trapAbove() {
	h.op(opI64GtU)
	h.begin(module.OpIf)
	h.self()
	h.op(module.OpEnd)
}

// piece charges for a piece and does it, at the parameters plus the local
// variable offset, and lets the host have a look.
func (h *help) piece() {
	h.i64(pieceBytes / bytesPerUnit)
	h.charge(left)
	h.get(to)
	h.get(from)
	h.i32(pieceBytes)
	h.out = append(h.out, h.raw...)
	h.yield()
}

// again goes back to the loop's begin while more than a piece is left.
func (h *help) again() {
	h.get(length)
	h.i32(pieceBytes)
	h.op(opI32GtU)
	h.indexed(module.OpBrIf, 0)
	h.op(module.OpEnd)
}

// upwards does all pieces but the last, from the first on.
func (h *help) upwards(op module.Op) {
	h.begin(module.OpLoop)
	h.piece()
	h.move(to, opI32Add)
	if op != module.OpMemoryFill {
		h.move(from, opI32Add)
	}
	h.move(length, opI32Sub)
	h.again()
}

// move adds a piece's length to a parameter or subtracts it.
func (h *help) move(local uint32, op module.Op) {
	h.get(local)
	h.i32(pieceBytes)
	h.op(op)
	h.set(local)
}

// downwards copies all pieces but the first, from the last on: the ranges may
// overlap.
func (h *help) downwards() {
	h.begin(module.OpLoop)
	h.i64(pieceBytes / bytesPerUnit)
	h.charge(left)
	h.move(length, opI32Sub)
	for _, local := range []uint32{to, from} {
		h.get(local)
		h.get(length)
		h.op(opI32Add)
	}
	h.i32(pieceBytes)
	h.out = append(h.out, h.raw...)
	h.yield()
	h.again()
}
