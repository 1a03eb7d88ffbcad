package meter

import (
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// block is a sequence of instructions that are charged together, when the first of
// them is reached.
type block struct {
	// at is the offset of the first instruction in the module.
	at int
	// fuel is the fuel of all instructions together. touches is the sum of their
	// touches of memory, see the variable touches. checked reports whether the fuel
	// is checked at this block.
	fuel    uint32
	touches uint32
	checked bool
	// back is the place to which the last call that may be deep returns. hasBack
	// reports whether there is such a call in the block.
	back    place
	hasBack bool
	// loop reports whether the block begins a loop without operands. sets are the
	// integer variables that are set in the loop, if there are few.
	loop bool
	sets []uint32
}

// place is a place within a function, with the fuel and the touches of all
// instructions before it in the code. It does not change when its block is split.
type place struct {
	at            int
	fuel, touches uint64
}

// plan is the result of the first pass over a function, before it is rewritten.
type plan struct {
	blocks []block
	// frame is what a call of the function takes from the stack's budget, 0 for
	// nothing.
	frame int64
	// calls reports whether the function calls others, vectors whether it uses
	// vectors, f32 and f64 whether its instructions can return NaNs of these types.
	calls, vectors, f32, f64 bool
}

// plan divides a function into blocks. A new block begins at each of these places: the
// begin of the function; after loop, if and else; after the end of a loop or if; after the
// end of a block that is the target of a branch; when the block before has reached
// longestBlock or longestTouches; after a call that may be deep, unless little code follows
// the call.
func (w *rewriter) plan(i int) (*plan, error) {
	p := &w.planning
	p.reset()
	p.begin(w.m.Bodies[i].CodeOffset)
	p.current.checked = true
	code := w.read(i)
	var in module.Instruction
	for code.Next(&in) {
		if !p.dead {
			p.current.fuel += weight(in.Info)
			p.current.touches += touches[in.Info.Class]
			p.outgrow()
			p.comeBack()
		}
		p.instruction(&in, code.Ended())
		if !p.dead && w.mayBeDeep(&in) {
			p.cutIfs(in.Offset)
			p.current.back, p.current.hasBack = p.here(&in), true
		}
		if w.each {
			after := in.Offset + len(in.Raw)
			p.cutIfs(after)
			p.finish()
			p.begin(after)
		}
		p.dead = code.Dead()
	}
	if err := code.Err(); err != nil {
		return nil, err
	}
	p.finish()
	p.frame = w.frame(i, code.Highest(), &p.plan)
	return &p.plan, nil
}

// planning is the state while a plan is made.
type planning struct {
	plan

	current block
	// base is the fuel and the touches of the blocks before the current one, see
	// place.
	base struct{ fuel, touches uint64 }
	// dead reports whether the present instruction cannot be reached.
	dead bool
	// since is what was done between the last check and the current block.
	since path
	// opened are the open blocks of the WebAssembly code, the function first.
	opened []opened
	// shorts are the indexes in opened of the ifs that are not blocks of the plan
	// yet, outermost first. They are in the order of the code, so the ifs that
	// become blocks are always the first.
	shorts []int
}

// reset prepares for another function and keeps the buffers.
func (p *planning) reset() {
	*p = planning{plan: plan{blocks: p.blocks[:0]}, opened: append(p.opened[:0], opened{kind: module.OpBlock}), shorts: p.shorts[:0]}
}

// grow allocates enough for most functions of so many bytes at once, because
// growing step by step would cost more.
func (p *planning) grow(bytes int) {
	const shortest, many = 2, 1024 // shortest is the length of a block in WebAssembly code
	n := min(bytes/shortest, many) + 1
	p.blocks, p.opened = make([]block, 0, n), make([]opened, 0, n)
}

// opened is an open block of the WebAssembly code: a block, loop, if or else.
type opened struct {
	kind module.Op
	// begins is the index of the plan's block with which a loop begins. sets are
	// the variables that were set in the loop so far, sorted.
	begins int
	sets   []uint32
	// short is the place after an if that may be short and so is not a block of the
	// plan yet. other is the place after its else. isShort and hasOther report
	// whether these are set.
	short, other      place
	isShort, hasOther bool
	// before is what was done before an if that is a block of the plan. ways is
	// what was done on all ways to the place after the end, except for falling
	// through the end.
	before path
	ways   ways
}

// begin begins a new block after the current one.
func (p *planning) begin(at int) {
	p.base.fuel += uint64(p.current.fuel)
	p.base.touches += uint64(p.current.touches)
	p.current = block{at: at}
}

// finish adds the current block to the plan. A block that takes no fuel is left
// out.
func (p *planning) finish() {
	if p.current.fuel == 0 && !p.current.checked {
		return
	}
	p.current.checked = p.current.checked || p.overdue()
	p.since = p.now()
	p.blocks = append(p.blocks, p.current)
}

// instruction ends the current block after an instruction if necessary, and keeps
// track of the open blocks.
func (p *planning) instruction(in *module.Instruction, targeted bool) {
	after := in.Offset + len(in.Raw)
	switch in.Op {
	case module.OpBlock:
		p.opened = append(p.opened, opened{kind: in.Op})
	case module.OpIf:
		p.shorts = append(p.shorts, len(p.opened))
		p.opened = append(p.opened, opened{kind: in.Op, short: p.here(in), isShort: true})
	case module.OpLoop:
		p.cutIfs(after)
		p.finish()
		p.opened = append(p.opened, opened{kind: in.Op, begins: len(p.blocks)})
		p.begin(after)
		p.current.checked, p.current.fuel, p.current.loop = true, 1, len(in.Block.Params) == 0
	case module.OpElse:
		top := p.top()
		if top.isShort {
			top.other, top.hasOther = p.here(in), true
			return
		}
		p.finish()
		p.elseOf(top)
		p.begin(after)
	case module.OpEnd:
		p.end(after, targeted)
	case module.OpLocalSet, module.OpLocalTee:
		p.set(in.Index)
		p.cut(after)
	default:
		p.branch(in)
		p.note(in)
		p.cut(after)
	}
}

func (p *planning) top() *opened { return &p.opened[len(p.opened)-1] }

// cut ends a block that is long enough.
func (p *planning) cut(after int) {
	if p.current.fuel >= longestBlock || p.current.touches >= longestTouches {
		p.cutIfs(after)
		p.finish()
		p.begin(after)
	}
}

// end closes a block of the WebAssembly code.
func (p *planning) end(after int, targeted bool) {
	last := len(p.opened) - 1
	closed := p.opened[last]
	p.opened = p.opened[:last]
	if last == 0 {
		return
	}
	switch {
	case closed.isShort:
		p.shorts = p.shorts[:len(p.shorts)-1]
	case closed.kind != module.OpBlock || targeted:
		p.cutIfs(after)
		p.finish()
		p.join(&closed)
		p.begin(after)
	}
	if closed.kind == module.OpLoop {
		closed.sets = slices.Clip(closed.sets) // so that sets is not overwritten when top.sets grows
		p.blocks[closed.begins].sets = closed.sets
	}
	// The shorter list is added to the longer one. Otherwise each of many nested
	// blocks would copy the whole list.
	if top := p.top(); len(closed.sets) > len(top.sets) {
		closed.sets, top.sets = top.sets, closed.sets
	}
	for _, local := range closed.sets {
		p.set(local)
	}
}

// set records that a variable is set in the innermost open block.
func (p *planning) set(local uint32) {
	top := p.top()
	if len(top.sets) > maxSets {
		return
	}
	if at, known := slices.BinarySearch(top.sets, local); !known {
		top.sets = slices.Insert(top.sets, at, local)
	}
}

// note records what the rewriting of the function will need for an instruction.
func (p *plan) note(in *module.Instruction) {
	if in.Op == module.OpCall || in.Op == module.OpCallIndirect {
		p.calls = true
	}
	if in.Op >= 0xfd<<16 {
		p.vectors = true
	}
	switch in.Info.NaN {
	case module.F32:
		p.f32 = true
	case module.F64:
		p.f64 = true
	}
}

// frame returns what a call of a function takes from the stack's budget: a slot for
// each local variable and operand, and the length of its code, because values that
// live across calls are stored in the frame.
func (w *rewriter) frame(i, operands int, p *plan) int64 {
	b := &w.m.Bodies[i]
	t := w.m.Type(uint32(w.m.ImportedFunctions + i))
	each := int64(slot)
	wide := func(types []module.ValueType) {
		for _, v := range types {
			if v == module.V128 {
				each = wideSlot
			}
		}
	}
	wide(t.Params)
	wide(t.Results)
	for _, g := range b.Locals {
		wide([]module.ValueType{g.Type})
	}
	if p.vectors {
		each = wideSlot
	}
	size := each*(int64(len(t.Params)+len(t.Results))+int64(b.Count)+int64(operands)) + int64(b.Size)
	if !p.calls && size <= smallLeaf {
		return 0
	}
	return max(size, MinFrame)
}
