package meter

import (
	"encoding/binary"
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// rewriting is the state while a function is rewritten.
type rewriting struct {
	emitter

	w *rewriter
	*plan
	// These are the numbers of the local variables that are added.
	fuelLeft, stackLeft, floatF32, floatF64, floatV128 uint32
	variables                                          variables
	// canonical are the instructions that makeCanonical appends, by kind of NaN.
	canonical [4][]byte
}

// read prepares the reader for function i. It is reused for all functions.
func (w *rewriter) read(i int) *module.Code {
	w.reading.Reset(w.m, i)
	return &w.reading
}

// body rewrites a function: it appends its declarations and its code to w.code.
func (w *rewriter) body(i int) error {
	p, err := w.plan(i)
	if err != nil {
		return err
	}
	b := &w.m.Bodies[i]
	t := w.m.Type(uint32(w.m.ImportedFunctions + i))
	r := &w.rewriting
	*r = rewriting{emitter: emitter{w.code}, w: w, plan: p, variables: variables{params: t.Params, groups: b.Locals, ends: w.ends[:0]}}
	r.locals(b, uint32(len(t.Params))+uint32(b.Count))
	r.enter(&p.blocks[0])
	if p.frame > 0 {
		r.op(module.OpBlock)
		r.out = w.resultType(r.out, t.Results)
	}
	blocks := p.blocks[1:]
	code := w.read(i)
	var in module.Instruction
	for code.Next(&in) {
		for len(blocks) > 0 && blocks[0].at <= in.Offset {
			r.charge(&blocks[0])
			blocks = blocks[1:]
		}
		if code.Depth() == 0 {
			break
		}
		if r.instruction(&in, code.Depth()); w.outgrown(len(r.out)) {
			return tooLarge(w.m, i, w.most)
		}
	}
	r.leave()
	w.ends, w.code = r.variables.ends, r.out
	return nil
}

// locals declares the local variables: the function's own, and those that rewriting
// needs.
func (r *rewriting) locals(b *module.Body, n uint32) {
	added := make([]module.ValueType, 0, 5)
	add := func(t module.ValueType) uint32 {
		added = append(added, t)
		n++
		return n - 1
	}
	r.fuelLeft = add(module.I64)
	if r.frame > 0 {
		r.stackLeft = add(module.I64)
	}
	if r.f32 {
		r.floatF32 = add(module.F32)
	}
	if r.f64 {
		r.floatF64 = add(module.F64)
	}
	if r.vectors {
		r.floatV128 = add(module.V128)
	}
	r.out = binary.AppendUvarint(r.out, uint64(len(b.Locals)+len(added)))
	for _, g := range b.Locals {
		r.out = append(binary.AppendUvarint(r.out, uint64(g.Count)), byte(g.Type))
	}
	for _, t := range added {
		r.out = append(r.out, 1, byte(t))
	}
}

// resultType appends the type of a block with these results.
func (w *rewriter) resultType(out []byte, results []module.ValueType) []byte {
	const empty = 0x40
	switch len(results) {
	case 0:
		return append(out, empty)
	case 1:
		return append(out, byte(results[0]))
	}
	return appendSigned(out, int64(w.addType(nil, results)))
}

// take appends code that subtracts from a global and stores the difference in a
// local variable, too.
func (r *rewriting) take(global, local uint32, amount int64) {
	r.indexed(module.OpGlobalGet, global)
	r.i64(amount)
	r.op(opI64Sub)
	r.indexed(module.OpLocalTee, local)
	r.indexed(module.OpGlobalSet, global)
}

// give appends code that adds to a global.
func (r *rewriting) give(global uint32, amount int64) {
	r.indexed(module.OpGlobalGet, global)
	r.i64(amount)
	r.op(opI64Add)
	r.indexed(module.OpGlobalSet, global)
}

// enter appends the begin of a function: it takes the first block's fuel and the
// frame.
func (r *rewriting) enter(first *block) {
	r.begin(module.OpLoop)
	r.take(r.w.fuel, r.fuelLeft, int64(first.fuel))
	if r.frame > 0 {
		r.take(r.w.stack, r.stackLeft, r.frame)
	}
	r.indexed(module.OpLocalGet, r.fuelLeft)
	if r.frame > 0 {
		r.indexed(module.OpLocalGet, r.stackLeft)
		r.op(opI64Or)
	}
	r.look(int64(first.fuel), r.frame, nil)
	r.op(module.OpEnd)
}

// leave appends the end of a function: it returns the frame.
func (r *rewriting) leave() {
	if r.frame > 0 {
		r.op(module.OpEnd)
		r.indexed(module.OpGlobalGet, r.w.stack)
		r.i64(r.frame)
		r.op(opI64Add)
		r.indexed(module.OpGlobalSet, r.w.stack)
	}
	r.op(module.OpEnd)
}

// charge appends code that takes a block's fuel.
func (r *rewriting) charge(b *block) {
	if !b.checked {
		r.indexed(module.OpGlobalGet, r.w.fuel)
		r.i64(int64(b.fuel))
		r.op(opI64Sub)
		r.indexed(module.OpGlobalSet, r.w.fuel)
		return
	}
	if !b.loop {
		r.begin(module.OpLoop)
	}
	r.take(r.w.fuel, r.fuelLeft, int64(b.fuel))
	r.indexed(module.OpLocalGet, r.fuelLeft)
	r.look(int64(b.fuel), 0, b.sets)
	if !b.loop {
		r.op(module.OpEnd)
	}
}

// look appends code that calls the host if the i64 on the stack is negative. It
// then returns what was taken and branches to the begin of the innermost loop,
// where that is taken again. Branching there, instead of continuing after the call,
// keeps the call out of the main path: the compiler places the call behind the
// function's own code, and allocates registers as if there were no call.
func (r *rewriting) look(fuel, frame int64, sets []uint32) {
	r.i64(0)
	r.op(opI64GeS)
	r.begin(module.OpIf)
	r.op(module.OpElse)
	r.detach(sets)
	r.indexed(module.OpCall, r.w.yield)
	r.give(r.w.fuel, fuel)
	if frame > 0 {
		r.give(r.w.stack, frame)
	}
	r.indexed(module.OpBr, 1)
	r.op(module.OpEnd)
}

// detach appends code that sets variables to new values equal to the old. Otherwise
// a variable that changes in every iteration of a loop would be stored in every
// iteration, because of a call that hardly ever happens.
func (r *rewriting) detach(sets []uint32) {
	if len(sets) > maxSets {
		return
	}
	for _, local := range sets {
		t := r.variables.of(local)
		if t != module.I32 && t != module.I64 {
			continue
		}
		zero, add := module.OpI32Const, opI32Add
		if t == module.I64 {
			zero, add = module.OpI64Const, opI64Add
		}
		r.indexed(module.OpLocalGet, local)
		r.out = append(r.out, byte(zero), 0, byte(add))
		r.indexed(module.OpLocalSet, local)
	}
}

// variables are a function's parameters and local variables.
type variables struct {
	params []module.ValueType
	groups []module.LocalGroup
	// ends are the numbers after the last variable of each group, without
	// parameters. It is empty before the first call of the method of.
	ends []uint64
}

// of returns the type of a variable.
func (v *variables) of(local uint32) module.ValueType {
	if int(local) < len(v.params) {
		return v.params[local]
	}
	if len(v.ends) == 0 {
		end := uint64(0)
		for _, g := range v.groups {
			end += uint64(g.Count)
			v.ends = append(v.ends, end)
		}
	}
	// A function may have very many groups, most of them empty.
	group, _ := slices.BinarySearch(v.ends, uint64(local)-uint64(len(v.params))+1)
	if group == len(v.groups) {
		return 0
	}
	return v.groups[group].Type
}

// instruction appends an instruction in its rewritten form. depth is how many
// blocks are open after it.
func (r *rewriting) instruction(in *module.Instruction, depth int) {
	switch in.Op {
	case module.OpReturn:
		if r.frame == 0 {
			r.out = append(r.out, in.Raw...)
		} else {
			r.indexed(module.OpBr, uint32(depth-1))
		}
	case module.OpCall, module.OpRefFunc:
		r.indexed(in.Op, r.w.function(in.Index))
	case module.OpMemoryGrow, module.OpMemoryFill, module.OpMemoryCopy, module.OpMemoryInit,
		module.OpTableGrow, module.OpTableFill, module.OpTableCopy, module.OpTableInit:
		r.indexed(module.OpCall, r.w.helper(in))
	default:
		r.out = append(r.out, in.Raw...)
		if in.Info.NaN != 0 {
			r.makeCanonical(in.Info)
		}
	}
}
