package module

// Instruction is one instruction of a function's code.
type Instruction struct {
	Op   Op
	Info *Info
	// Raw are the bytes of the instruction in the module. Offset is their offset.
	Raw    []byte
	Offset int
	// Index is the index in the instruction: of a function, local, global, table,
	// segment, label or lane, or of the type for call_indirect. It is not set for
	// i32 and i64 constants.
	Index uint32
	// Second is the table of call_indirect and table.init, and the source of
	// table.copy.
	Second uint32
	// Labels are the labels of br_table, the default last. They are valid until the
	// next instruction is read.
	Labels []uint32
	// Block is the type of a block.
	Block BlockType
}

// BlockType is the parameters and results of a block, and their encoding in the
// module.
type BlockType struct {
	Params, Results []ValueType
	Raw             []byte
}

// read reads an instruction with its arguments.
func (c *Code) read(i *Instruction) bool {
	begin := c.at
	i.Offset, c.begin = begin, begin
	i.Op = Op(c.byte())
	if i.Op == prefixBulk || i.Op == prefixVector {
		sub := c.u32()
		if c.err == nil && sub > 0xffff {
			sub = 0xffff
		}
		i.Op = i.Op<<16 | Op(sub)
	}
	if c.err != nil {
		return false
	}
	info, ok := i.Op.Info()
	if !ok {
		c.failAt(begin, "instruction %#x is not supported", uint32(i.Op))
		return false
	}
	i.Info, i.Index, i.Second = info, 0, 0
	c.arguments(i)
	if c.err != nil {
		return false
	}
	i.Raw = c.data[begin:c.at:c.at]
	return true
}

func (c *Code) arguments(i *Instruction) {
	m := c.m
	switch i.Info.arguments {
	case none:
	case blockType:
		c.blockType(i)
	case label:
		i.Index = c.below(len(c.frames), "label")
	case labels:
		i.Labels = i.Labels[:0]
		for range c.count() + 1 {
			i.Labels = append(i.Labels, c.below(len(c.frames), "label"))
			if c.err != nil {
				return
			}
		}
	case function:
		i.Index = c.below(len(m.Functions), "function")
	case indirect:
		i.Index, i.Second = c.below(len(m.Types), "type"), c.below(len(m.Tables), "table")
	case types:
		if begin := c.at; c.count() != 1 {
			c.failAt(begin, "a select of other than one type")
		}
		c.valueType()
	case local:
		begin := c.at
		if i.Index = c.u32(); c.err == nil && uint64(i.Index) >= c.locals {
			c.failAt(begin, "there is no local %d", i.Index)
		}
	case global:
		i.Index = c.below(len(m.Globals), "global")
	case table:
		i.Index = c.below(len(m.Tables), "table")
	case memoryArgument, memoryLane:
		c.hasMemory()
		c.u32() // alignment
		c.u32() // offset
		if i.Info.arguments == memoryLane {
			c.byte()
		}
	case memory:
		c.zeroMemory()
	case memoryMemory:
		c.zeroMemory()
		c.zeroMemory()
	case constI32:
		c.signed(32)
	case constI64:
		c.signed(64)
	case bytes4:
		c.take(4)
	case bytes8:
		c.take(8)
	case bytes16:
		c.take(16)
	case lane:
		i.Index = uint32(c.byte())
	case reference:
		c.referenceType()
	case data, dataMemory:
		c.segment(i)
		if i.Info.arguments == dataMemory {
			c.zeroMemory()
		}
	case element:
		i.Index = c.below(len(m.Elements), "segment of elements")
	case elementTable:
		i.Index, i.Second = c.below(len(m.Elements), "segment of elements"), c.below(len(m.Tables), "table")
	case tableTable:
		i.Index, i.Second = c.below(len(m.Tables), "table"), c.below(len(m.Tables), "table")
	}
}

func (c *Code) hasMemory() {
	if len(c.m.Memories) == 0 {
		c.fail("there is no memory")
	}
}

// zeroMemory reads the index of a memory, which must be one zero byte.
func (c *Code) zeroMemory() {
	begin := c.at
	if c.byte() != 0 {
		c.failAt(begin, "there is only one memory")
	}
	c.hasMemory()
}

// segment reads the index of a data segment. That needs a data count section,
// because the data section comes after the code.
func (c *Code) segment(i *Instruction) {
	begin := c.at
	i.Index = c.u32()
	switch {
	case c.err != nil:
	case c.m.DataCount < 0:
		c.failAt(begin, "it names a segment of data, and there is no data count section")
	case uint64(i.Index) >= uint64(c.m.DataCount):
		c.failAt(begin, "there is no segment of data %d", i.Index)
	}
}

// blockType reads the type of a block: empty, a single result, or a function type.
func (c *Code) blockType(i *Instruction) {
	begin := c.at
	const empty = -64
	switch n := c.signed(33); {
	case c.err != nil:
	case n == empty:
		i.Block = BlockType{}
	case n < 0:
		t := ValueType(n & 0x7f)
		if n < empty || valueTypeNames[t] == "" {
			c.failAt(begin, "a block of type %#x", byte(t))
			return
		}
		i.Block = BlockType{Results: one[t]}
	case n >= int64(len(c.m.Types)):
		c.failAt(begin, "there is no type %d", n)
	default:
		t := &c.m.Types[n]
		i.Block = BlockType{Params: t.Params, Results: t.Results}
	}
	i.Block.Raw = c.data[begin:c.at:c.at]
}

// one holds, for each type, the list of that one type.
var one = func() (lists [256][]ValueType) {
	for t := range valueTypeNames {
		lists[t] = []ValueType{ValueType(t)}
	}
	return lists
}()
