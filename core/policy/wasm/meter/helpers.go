package meter

import "github.com/wardlet/wardlet/core/policy/wasm/module"

// helper identifies a function that replaces an instruction on a range. The
// function does the same as the instruction, and charges for the length of the
// range.
type helper struct {
	op            module.Op
	index, second uint32
}

// helper returns the number of the function that replaces an instruction. It adds
// the function if it does not exist yet.
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

// help is the code of a helper while it is written. The last of its parameters is
// the length.
type help struct {
	emitter

	w *rewriter
	// raw is the instruction that the helper replaces.
	raw []byte
}

// These are the local variables of a helper with three parameters.
const (
	to = iota
	from
	length
	left // i64
)

// body returns the code with its declarations: an i64 after the parameters, then an
// i32.
func (h *help) body() []byte {
	declared := []byte{2, 1, byte(module.I64), 1, byte(module.I32)}
	return append(declared, h.out...)
}

func (h *help) get(local uint32) { h.indexed(module.OpLocalGet, local) }
func (h *help) set(local uint32) { h.indexed(module.OpLocalSet, local) }

// self appends the replaced instruction, on the three parameters.
func (h *help) self() {
	h.get(to)
	h.get(from)
	h.get(length)
	h.out = append(h.out, h.raw...)
}

// charge appends code that takes the i64 on the stack from the fuel, and calls the
// host if there is not enough. local is an i64 variable that it may use.
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

// wideLength appends code that puts the length on the stack as an i64.
func (h *help) wideLength() {
	h.get(length)
	h.op(opI64Extend)
}

// table appends code that executes the instruction. It charges for the length
// before that if the length does not exceed the table.
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

// grow appends code that executes the instruction, and charges for the last
// parameter if the growth succeeded.
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

// memory appends code that executes an instruction on a range of memory in pieces.
// The code first checks the whole range: if it exceeds the memory, nothing is
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

// units is the binary logarithm of bytesPerUnit.
const units = 3

// trapOutside appends code that executes the whole instruction, which then traps,
// if the range at a parameter does not end within the memory.
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

// trapOutsideSegment does the same as trapOutside for the segment that memory.init
// reads.
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

// piece appends code that charges for a piece, executes the instruction on it, and
// calls the host.
func (h *help) piece() {
	h.i64(pieceBytes / bytesPerUnit)
	h.charge(left)
	h.get(to)
	h.get(from)
	h.i32(pieceBytes)
	h.out = append(h.out, h.raw...)
	h.yield()
}

// again appends a branch to the begin of the loop if more than a piece is left.
func (h *help) again() {
	h.get(length)
	h.i32(pieceBytes)
	h.op(opI32GtU)
	h.indexed(module.OpBrIf, 0)
	h.op(module.OpEnd)
}

// upwards appends a loop over all pieces but the last, from the first on.
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

// move appends code that adds a piece's length to a parameter or subtracts it.
func (h *help) move(local uint32, op module.Op) {
	h.get(local)
	h.i32(pieceBytes)
	h.op(op)
	h.set(local)
}

// downwards appends a loop that copies all pieces but the first, from the last on,
// because the ranges may overlap.
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
