package module

// Code goes through the instructions of a function, and knows at each how high
// the operand stack is and which blocks are open. It does not check types.
type Code struct {
	parser

	// frames are the open blocks, the function itself first.
	frames []frame
	locals uint64
	// begin is where the last instruction stands.
	begin  int
	height int
	// ended is the block that ended last.
	ended frame
	// highest is the most that the operand stack held.
	highest int
}

// frame is an open block.
type frame struct {
	op Op
	// height is that of the operand stack below the block.
	height          int
	params, results int
	// dead says that what follows in the block is not reached, unreached that
	// nothing in it is.
	dead, unreached bool
	// targeted says that a branch goes to the block's label.
	targeted bool
}

// Code begins a function, numbered from 0 without the imported ones.
func (m *Module) Code(defined int) *Code {
	c := &Code{}
	c.Reset(m, defined)
	return c
}

// Reset begins a function as Module.Code does, in the memory of the one before.
func (c *Code) Reset(m *Module, defined int) {
	b := &m.Bodies[defined]
	index := m.ImportedFunctions + defined
	t := m.Type(uint32(index))
	*c = Code{frames: append(c.frames[:0], frame{op: OpBlock, results: len(t.Results)}), locals: uint64(len(t.Params)) + b.Count}
	c.m = m
	c.reader = reader{data: b.whole, at: b.CodeOffset, section: sectionNames[SectionCode], index: index}
}

// Next reads the next instruction; false at the end and where Err says so.
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

// Err is why the code cannot be read on, nil at the end.
func (c *Code) Err() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

// Depth is how many blocks are open, the function among them; 0 after its end.
func (c *Code) Depth() int { return len(c.frames) }

// Highest is the most operands that were on the stack so far.
func (c *Code) Highest() int { return c.highest }

// Ended is, after an end, whether a branch went to the label of the block that
// ended.
func (c *Code) Ended() (targeted bool) { return c.ended.targeted }

// Dead says that the code after the last instruction is not reached by
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

// end makes what follows in the block unreachable.
func (c *Code) end() {
	f := c.top()
	f.dead = true
	c.height = f.height
}

// target marks the block that a branch goes to.
func (c *Code) target(label uint32) { c.frames[len(c.frames)-1-int(label)].targeted = true }

// step follows what an instruction does to stack and blocks.
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
