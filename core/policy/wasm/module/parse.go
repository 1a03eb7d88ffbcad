package module

import (
	"slices"
	"unicode/utf8"
)

// Order is the order of the sections. Custom sections may be anywhere.
var Order = [...]byte{
	SectionType, SectionImport, SectionFunction, SectionTable, SectionMemory, SectionGlobal, SectionExport,
	SectionStart, SectionElement, SectionDataCount, SectionCode, SectionData,
}

// Caps are the most elements in each section of a module, by the number of the
// section; 0 means no limit. An element takes some 64 bytes after it is read.
type Caps [SectionDataCount + 1]int

// Parse reads a module. The error is a *Fault. data must not change while the
// module is used.
func Parse(data []byte, caps Caps) (*Module, error) {
	if fault := header(data); fault != nil {
		return nil, fault
	}
	p := &parser{m: &Module{Start: -1, DataCount: -1, Size: len(data)}, caps: caps}
	r := &reader{data: data, at: 8, index: -1}
	last := -1
	for r.left() > 0 {
		at := r.at
		s := Section{ID: r.byte()}
		s.Payload = r.take(r.u32())
		s.Offset = r.at - len(s.Payload)
		if r.err != nil {
			return nil, r.err
		}
		if s.ID != SectionCustom {
			place := slices.Index(Order[:], s.ID)
			switch {
			case place < 0:
				r.failAt(at, "section %d is not supported", s.ID)
			case place <= last:
				r.failAt(at, "the %s section stands twice, or after one it must precede", s.Name())
			}
			last = place
		}
		if r.err != nil {
			return nil, r.err
		}
		if s.ID != SectionCustom {
			p.m.Sections = append(p.m.Sections, s)
		}
		p.reader = reader{data: data[:r.at], at: s.Offset, section: s.Name(), index: -1}
		p.section(s.ID)
		if p.err != nil {
			return nil, p.err
		}
	}
	if fault := p.whole(); fault != nil {
		return nil, fault
	}
	return p.m, nil
}

// parser reads the sections of a module one after the other.
type parser struct {
	reader

	m    *Module
	caps Caps
	// defined is the number of functions that are not imported, each of which must
	// have a body in the code section.
	defined int
}

// section reads a section's payload. It fails if bytes are left.
func (p *parser) section(id byte) {
	switch id {
	case SectionCustom:
		p.name()
		return
	case SectionType:
		p.each(id, p.functionType)
	case SectionImport:
		p.each(id, p.imported)
	case SectionFunction:
		p.each(id, func() {
			p.m.Functions = append(p.m.Functions, p.below(len(p.m.Types), "type"))
			p.defined++
		})
	case SectionTable:
		p.each(id, func() { p.m.Tables = append(p.m.Tables, p.table()) })
	case SectionMemory:
		p.each(id, func() { p.m.Memories = append(p.m.Memories, p.memory()) })
	case SectionGlobal:
		p.each(id, p.global)
	case SectionExport:
		p.each(id, p.export)
	case SectionStart:
		p.m.Start = int(p.below(len(p.m.Functions), "function"))
	case SectionElement:
		p.each(id, p.element)
	case SectionCode:
		p.each(id, p.body)
	case SectionData:
		p.each(id, p.segment)
	case SectionDataCount:
		p.m.DataCount = int(p.u32())
	}
	if p.err == nil && p.left() > 0 {
		p.index = -1
		p.fail("%d bytes after the last element", p.left())
	}
}

// each calls one for each element of a section.
func (p *parser) each(section byte, one func()) {
	begin := p.at
	n := p.count()
	if most := p.caps[section]; most > 0 && n > most {
		p.failAt(begin, "%d elements: at most %d are supported", n, most)
	}
	switch section { // sections with many elements, which take more memory than their bytes
	case SectionFunction:
		p.m.Functions = slices.Grow(p.m.Functions, n)
	case SectionCode:
		p.m.Bodies = slices.Grow(p.m.Bodies, min(n, p.defined))
	case SectionData:
		p.m.Data = slices.Grow(p.m.Data, min(n, p.left()/3))
	}
	for i := 0; i < n && p.err == nil; i++ {
		p.index = i
		one()
	}
}

// whole checks what can be checked only after all sections are read.
func (p *parser) whole() *Fault {
	m := p.m
	fault := func(what string) *Fault { return &Fault{Index: -1, Offset: m.Size, What: what} }
	switch {
	case len(m.Bodies) != p.defined:
		return fault("the code section has not as many bodies as the function section announces")
	case m.DataCount >= 0 && m.DataCount != len(m.Data):
		return fault("the data section has not as many segments as the data count section announces")
	}
	return nil
}

func (p *parser) name() string {
	begin := p.at
	text := p.take(p.u32())
	if !utf8.Valid(text) {
		p.failAt(begin, "a name that is not UTF-8")
	}
	return string(text)
}

func (p *parser) valueType() ValueType {
	begin := p.at
	t := ValueType(p.byte())
	if p.err == nil && valueTypeNames[t] == "" {
		p.failAt(begin, "a value of type %#x: only i32, i64, f32, f64, v128, funcref and externref are supported", byte(t))
	}
	return t
}

func (p *parser) referenceType() ValueType {
	begin := p.at
	t := p.valueType()
	if p.err == nil && t != FuncRef && t != ExternRef {
		p.failAt(begin, "a table or segment of %s: only funcref and externref are supported", t)
	}
	return t
}

func (p *parser) valueTypes() []ValueType {
	types := make([]ValueType, 0, p.count())
	for range cap(types) {
		types = append(types, p.valueType())
	}
	return types
}

func (p *parser) functionType() {
	begin := p.at
	if form := p.byte(); p.err == nil && form != 0x60 {
		p.failAt(begin, "a type of form %#x: only functions are supported", form)
	}
	p.m.Types = append(p.m.Types, FunctionType{Params: p.valueTypes(), Results: p.valueTypes()})
}

// limits reads the limits of a table or memory. It refuses shared and 64-bit ones.
func (p *parser) limits(most uint64) (l Limits) {
	begin := p.at
	switch flags := p.byte(); flags {
	case 0:
	case 1:
		l.Bounded = true
	default:
		p.failAt(begin, "limits of kind %#x: shared and 64-bit memories and tables are not supported", flags)
		return l
	}
	l.Min = uint64(p.u32())
	l.Max = l.Min
	if l.Bounded {
		l.Max = uint64(p.u32())
	}
	if p.err == nil && (l.Min > most || l.Max > most || l.Max < l.Min) {
		p.failAt(begin, "limits of %d to %d: at most %d, and the first at most the second", l.Min, l.Max, most)
	}
	return l
}

func (p *parser) table() Table {
	at := p.at
	return Table{Offset: at, Type: p.referenceType(), Limits: p.limits(1<<32 - 1)}
}

func (p *parser) memory() Memory {
	at := p.at
	return Memory{Offset: at, Limits: p.limits(1 << 16)}
}

func (p *parser) globalType() Global {
	g := Global{Offset: p.at}
	g.Type = p.valueType()
	begin := p.at
	switch mutable := p.byte(); mutable {
	case 0, 1:
		g.Mutable = mutable == 1
	default:
		p.failAt(begin, "a global is constant (0) or mutable (1), not %#x", mutable)
	}
	return g
}

func (p *parser) global() {
	g := p.globalType()
	g.Init = p.expression()
	p.m.Globals = append(p.m.Globals, g)
}

func (p *parser) imported() {
	m := p.m
	i := Import{Offset: p.at}
	i.Module, i.Name = p.name(), p.name()
	begin := p.at
	i.Kind = Kind(p.byte())
	switch i.Kind {
	case KindFunction:
		i.Type = p.below(len(m.Types), "type")
		m.Functions = append(m.Functions, i.Type)
		m.ImportedFunctions++
	case KindTable:
		m.Tables = append(m.Tables, p.table())
		m.ImportedTables++
	case KindMemory:
		m.Memories = append(m.Memories, p.memory())
		m.ImportedMemories++
	case KindGlobal:
		m.Globals = append(m.Globals, p.globalType())
		m.ImportedGlobals++
	default:
		p.failAt(begin, "an import of kind %#x is not supported", byte(i.Kind))
	}
	m.Imports = append(m.Imports, i)
}

func (p *parser) export() {
	e := Export{Offset: p.at}
	e.Name = p.name()
	begin := p.at
	e.Kind = Kind(p.byte())
	var n int
	switch e.Kind {
	case KindFunction:
		n = len(p.m.Functions)
	case KindTable:
		n = len(p.m.Tables)
	case KindMemory:
		n = len(p.m.Memories)
	case KindGlobal:
		n = len(p.m.Globals)
	default:
		p.failAt(begin, "an export of kind %#x is not supported", byte(e.Kind))
		return
	}
	e.Index = p.below(n, e.Kind.String())
	p.m.Exports = append(p.m.Exports, e)
}
