package meter

import (
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// block is a row of instructions that are charged together, when the first is
// reached.
type block struct {
	// at is where the first instruction stands in the module.
	at int
	// fuel is the fuel of all instructions together, touches how much memory they may be the first
	// to touch. checked reports whether the fuel is checked at this block.
	fuel    uint32
	touches uint32
	checked bool
	// back is where the last call that may be deep has returned to. hasBack reports
	// whether there is one in the block.
	back    place
	hasBack bool
	// loop says that the block begins a loop that takes no operands, and sets
	// are the integer variables that are set in the loop, if they are few.
	loop bool
	sets []uint32
}

// place is one within a function: what the instructions before it in the code
// take and touch. It stays the same when the block around it is split.
type place struct {
	at            int
	fuel, touches uint64
}

// plan is what is known of a function before it is rewritten.
type plan struct {
	blocks []block
	// frame is what a call takes of the stack's budget, 0 for nothing.
	frame int64
	// calls says that it calls other functions, vectors that it has vectors,
	// f32 and f64 that its instructions give such NaNs.
	calls, vectors, f32, f64 bool
}

// plan cuts a function into blocks: one begins with the function, after loop,
// if and else, after the end of a loop and of an if, after the end of a block
// that a branch goes to, where the one before has taken longestBlock or has
// longestTouches, and after a call that may be deep, unless little comes after it.
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

// planning is a plan while it is made.
type planning struct {
	plan

	current block
	// base is what the blocks before the current one take and touch, see place.
	base struct{ fuel, touches uint64 }
	// dead says that the instruction is not reached by falling through.
	dead bool
	// since is what was done since the last look before the current block.
	since path
	// opened are the blocks of the format that are open, the function first.
	opened []opened
	// shorts are the places in opened of the ifs that are not cut yet, outermost
	// first. They begin one after the other in the code, so those to cut are
	// always the first.
	shorts []int
}

// reset prepares for another function and keeps the memory.
func (p *planning) reset() {
	*p = planning{plan: plan{blocks: p.blocks[:0]}, opened: append(p.opened[:0], opened{kind: module.OpBlock}), shorts: p.shorts[:0]}
}

// grow makes room for most functions of so many bytes at once: it would take more to
// grow step by step.
func (p *planning) grow(bytes int) {
	const shortest, many = 2, 1024 // bytes of a block of the format
	n := min(bytes/shortest, many) + 1
	p.blocks, p.opened = make([]block, 0, n), make([]opened, 0, n)
}

// opened is an open block of the format: a block, loop, if or else.
type opened struct {
	kind module.Op
	// begins is which of the plan's blocks a loop begins with, sets are the
	// variables that were set in it so far, sorted.
	begins int
	sets   []uint32
	// short is where an if begins that is not cut yet, as it may be short, and other
	// where its else does. isShort and hasOther report whether there are any.
	short, other      place
	isShort, hasOther bool
	// before is what was done before an if that is, ways what was done on all ways that
	// lead behind the end but that of falling through to it.
	before path
	ways   ways
}

// begin begins a block behind the current one.
func (p *planning) begin(at int) {
	p.base.fuel += uint64(p.current.fuel)
	p.base.touches += uint64(p.current.touches)
	p.current = block{at: at}
}

// finish ends a block. One that takes nothing is left out.
func (p *planning) finish() {
	if p.current.fuel == 0 && !p.current.checked {
		return
	}
	p.current.checked = p.current.checked || p.overdue()
	p.since = p.now()
	p.blocks = append(p.blocks, p.current)
}

// instruction cuts the function where that is due.
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

// cut ends a block that has become long.
func (p *planning) cut(after int) {
	if p.current.fuel >= longestBlock || p.current.touches >= longestTouches {
		p.cutIfs(after)
		p.finish()
		p.begin(after)
	}
}

// end closes a block of the format.
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
		closed.sets = slices.Clip(closed.sets) // what is added for the blocks around goes elsewhere
		p.blocks[closed.begins].sets = closed.sets
	}
	// The shorter list is added to the longer one: otherwise each of many nested
	// blocks would copy the whole list.
	if top := p.top(); len(closed.sets) > len(top.sets) {
		closed.sets, top.sets = top.sets, closed.sets
	}
	for _, local := range closed.sets {
		p.set(local)
	}
}

// set remembers that a variable is set in the innermost open block.
func (p *planning) set(local uint32) {
	top := p.top()
	if len(top.sets) > maxSets {
		return
	}
	if at, known := slices.BinarySearch(top.sets, local); !known {
		top.sets = slices.Insert(top.sets, at, local)
	}
}

// note remembers what the rewriting of an instruction needs.
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

// frame is what a call of a function takes of the stack's budget: a slot for
// each local variable and operand, and as much as its code is long, because
// values that live across calls get places of their own in the frame.
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
