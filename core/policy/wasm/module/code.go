package module

// Code reads the instructions of a function one by one. For each it knows the
// height of the operand stack and the open blocks. It does not check types.
type Code struct {
	parser

	// frames are the open blocks, the function itself first.
	frames []frame
	locals uint64
	// begin is the offset of the last instruction.
	begin  int
	height int
	// ended is the block that ended last.
	ended frame
	// highest is the greatest height of the operand stack so far.
	highest int
}

// frame is an open block.
type frame struct {
	op Op
	// height is the height of the operand stack below the block.
	height          int
	params, results int
	// dead reports whether the rest of the block cannot be reached. unreached
	// reports whether nothing in the block can be reached.
	dead, unreached bool
	// targeted reports whether a branch goes to the block's label.
	targeted bool
}

// Code returns a Code for a function. defined is the function's number, from 0,
// without the imported functions.
func (m *Module) Code(defined int) *Code {
	c := &Code{}
	c.Reset(m, defined)
	return c
}

// Reset begins a function as Module.Code does, and reuses the memory of c.
func (c *Code) Reset(m *Module, defined int) {
	b := &m.Bodies[defined]
	index := m.ImportedFunctions + defined
	t := m.Type(uint32(index))
	*c = Code{frames: append(c.frames[:0], frame{op: OpBlock, results: len(t.Results)}), locals: uint64(len(t.Params)) + b.Count}
	c.m = m
	c.reader = reader{data: b.whole, at: b.CodeOffset, section: sectionNames[SectionCode], index: index}
}

// Next reads the next instruction. It returns false at the end of the function, and
// after an error, see Err.
func (c *Code) Next(i *Instruction) bool {
	if len(c.frames) == 0 {
		if c.err == nil && c.left() > 0 {
			c.fail("%d bytes after the function's end", c.left())
		}
		return false
	}
	if !c.read(i) {
		return false
	}
	c.step(i)
	return c.err == nil
}

// Err returns why the code cannot be read any further, nil at the end.
func (c *Code) Err() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

// Depth returns how many blocks are open, including the function; 0 after its end.
func (c *Code) Depth() int { return len(c.frames) }

// Highest returns the most operands that were on the stack so far.
func (c *Code) Highest() int { return c.highest }

// Ended reports, after an end instruction, whether a branch went to the label of
// the block that ended.
func (c *Code) Ended() (targeted bool) { return c.ended.targeted }

// Dead reports whether the code after the last instruction cannot be reached by
// falling through.
func (c *Code) Dead() bool { return len(c.frames) > 0 && (c.top().dead || c.top().unreached) }

func (c *Code) top() *frame { return &c.frames[len(c.frames)-1] }

func (c *Code) pop(n int) {
	f := c.top()
	if c.height -= n; c.height < f.height {
		if !f.dead && c.err == nil {
			c.failAt(c.begin, "the operand stack is empty")
		}
		c.height = f.height
	}
}

func (c *Code) push(n int) {
	c.height += n
	c.highest = max(c.highest, c.height)
}

// end marks the rest of the block as unreachable.
func (c *Code) end() {
	f := c.top()
	f.dead = true
	c.height = f.height
}

// target marks the block to which a branch goes.
func (c *Code) target(label uint32) { c.frames[len(c.frames)-1-int(label)].targeted = true }

// step applies the effect of an instruction to the stack and the blocks.
func (c *Code) step(i *Instruction) {
	switch i.Op {
	case OpBlock, OpLoop, OpIf:
		c.pop(i.Info.Pops + len(i.Block.Params))
		c.frames = append(c.frames, frame{
			op: i.Op, height: c.height, params: len(i.Block.Params), results: len(i.Block.Results), unreached: c.Dead(),
		})
		c.push(len(i.Block.Params))
	case OpElse:
		f := c.top()
		if f.op != OpIf {
			c.failAt(i.Offset, "an else without an if")
			return
		}
		f.op, f.dead = OpElse, false
		c.height = f.height
		c.push(f.params)
	case OpEnd:
		c.ended = *c.top()
		c.frames = c.frames[:len(c.frames)-1]
		c.height = c.ended.height
		c.push(c.ended.results)
	case OpBr:
		c.target(i.Index)
		c.end()
	case OpBrIf:
		c.pop(1)
		c.target(i.Index)
	case OpBrTable:
		c.pop(1)
		for _, label := range i.Labels {
			c.target(label)
		}
		c.end()
	case OpReturn, OpUnreachable:
		c.end()
	case OpCall:
		t := c.m.Type(i.Index)
		c.pop(len(t.Params))
		c.push(len(t.Results))
	case OpCallIndirect:
		t := &c.m.Types[i.Index]
		c.pop(1 + len(t.Params))
		c.push(len(t.Results))
	default:
		c.pop(i.Info.Pops)
		c.push(i.Info.Pushes)
	}
}
