package module

// element reads a segment of elements. Its first number has three bits: passive or
// declared, with a table index or declared, and elements as expressions.
func (p *parser) element() {
	e := Element{Offset: p.at, Type: FuncRef}
	begin := p.at
	flags := p.u32()
	if flags > 7 {
		p.failAt(begin, "elements of kind %d are not supported", flags)
		return
	}
	passive, second, expressions := flags&1 != 0, flags&2 != 0, flags&4 != 0
	e.OfExpressions = expressions
	switch {
	case passive && second:
		e.Mode = Declared
	case passive:
		e.Mode = Passive
	case second:
		e.Table = p.u32()
	}
	if !passive {
		if p.err == nil && uint64(e.Table) >= uint64(len(p.m.Tables)) {
			p.failAt(begin, "there is no table %d", e.Table)
		}
		e.At = p.expression()
	}
	if passive || second {
		if expressions {
			e.Type = p.referenceType()
		} else if at := p.at; p.byte() != 0 {
			p.failAt(at, "elements that are no functions")
		}
	}
	n := p.count()
	for i := 0; i < n && p.err == nil; i++ {
		if expressions {
			e.Expressions = append(e.Expressions, p.expression())
		} else {
			e.Functions = append(e.Functions, p.below(len(p.m.Functions), "function"))
		}
	}
	p.m.Elements = append(p.m.Elements, e)
}

// segment reads a segment of data.
func (p *parser) segment() {
	d := Data{Offset: p.at}
	begin := p.at
	switch mode := p.u32(); mode {
	case 0:
		p.hasMemory(begin, 0)
		d.At = p.expression()
	case 1:
		d.Mode = Passive
	case 2:
		p.hasMemory(begin, p.u32())
		d.At = p.expression()
	default:
		p.failAt(begin, "data of kind %d is not supported", mode)
	}
	d.Content = p.take(p.u32())
	p.m.Data = append(p.m.Data, d)
}

func (p *parser) hasMemory(at int, index uint32) {
	if p.err == nil && (index != 0 || len(p.m.Memories) == 0) {
		p.failAt(at, "there is no memory %d", index)
	}
}

// maxLocals is the most local variables that the specification allows in a
// function.
const maxLocals = 1<<32 - 1

// body reads the declarations of a function's body, and skips its instructions.
func (p *parser) body() {
	m := p.m
	p.index = m.ImportedFunctions + len(m.Bodies)
	size := p.u32()
	b := Body{Offset: p.at, Size: int(size)}
	whole := p.take(size)
	if p.err != nil {
		return
	}
	if len(m.Bodies) >= p.defined {
		p.failAt(b.Offset, "a body without a function")
		return
	}
	section := p.reader
	p.data, p.at = p.data[:p.at], p.at-len(whole) // so that nothing after the body is read
	groups := p.count()
	if groups > 0 && p.err == nil {
		b.Locals = make([]LocalGroup, 0, min(groups, p.left()/2))
	}
	for i := 0; i < groups && p.err == nil; i++ {
		g := LocalGroup{Count: p.u32(), Type: p.valueType()}
		if b.Count += uint64(g.Count); p.err == nil && b.Count > maxLocals {
			p.fail("%d local variables", b.Count)
		}
		b.Locals = append(b.Locals, g)
	}
	if p.err != nil {
		return
	}
	b.CodeOffset, b.whole = p.at, p.data
	p.reader = section
	m.Bodies = append(m.Bodies, b)
}

// expression reads an initialiser: a constant and its end.
func (p *parser) expression() []byte {
	begin := p.at
	p.constant()
	if at := p.at; Op(p.byte()) != OpEnd {
		p.failAt(at, "an initialiser that is not one constant")
	}
	return p.data[begin:p.at:p.at]
}

func (p *parser) constant() {
	at := p.at
	switch op := Op(p.byte()); op {
	case OpI32Const:
		p.signed(32)
	case OpI64Const:
		p.signed(64)
	case OpF32Const:
		p.take(4)
	case OpF64Const:
		p.take(8)
	case OpRefNull:
		p.referenceType()
	case OpRefFunc:
		p.below(len(p.m.Functions), "function")
	case OpGlobalGet:
		p.below(len(p.m.Globals), "global")
	case prefixVector:
		if Op(p.u32()) != OpV128Const&0xffff {
			p.failAt(at, "an instruction that is not supported in an initialiser")
		}
		p.take(16)
	case OpEnd:
		p.failAt(at, "an initialiser that is not one constant")
	default:
		p.failAt(at, "an instruction that is not supported in an initialiser")
	}
}

// Address returns the offset of an active segment if it is a constant, read as
// unsigned.
func (d *Data) Address() (address uint32, ok bool) { return constant(d.Mode, d.At) }

// Address returns the offset of an active segment if it is a constant, read as
// unsigned.
func (e *Element) Address() (address uint32, ok bool) { return constant(e.Mode, e.At) }

func constant(mode Mode, at []byte) (address uint32, ok bool) {
	if mode != Active {
		return 0, false
	}
	r := reader{data: at}
	if Op(r.byte()) != OpI32Const {
		return 0, false
	}
	address = uint32(r.signed(32))
	return address, r.left() == 1 && r.err == nil
}
