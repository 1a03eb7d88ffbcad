package wasm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// The sections and kinds of imports and exports that layout looks at.
const (
	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionTable     = 4
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionExport    = 7
	sectionStart     = 8
	sectionElement   = 9
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12

	kindFunction = 0
	kindMemory   = 2
)

// Bounds of local variables, which cost memory before the module runs.
const (
	maxLocals    = 50_000  // of one function
	maxAllLocals = 1 << 20 // of all together: 8 bytes each while wazero holds them
)

var kinds = [...]string{"function", "table", "memory", "global", "tag"}

// layout is what must be known of a module before it is compiled.
type layout struct {
	sections []section
	types    []functionType
	// functions are the types of all functions, the imported ones first.
	functions []uint32
	imports   []imported
	exports   map[string]exported
	// memories counts those the module defines, pages is what the first of
	// them begins with, in pages of 64 KiB.
	memories int
	pages    uint64
	shared   bool
	globals  []global
	start    bool
	sizes    tableSizes
	locals   uint64
}

type section struct {
	id      byte
	payload []byte
}

// functionType is a function's parameters and results, one byte each.
type functionType struct{ params, results []byte }

// imported is a function: everything else is refused while it is read.
type imported struct{ module, name string }

type exported struct {
	kind  byte
	index uint32
}

type global struct {
	valueType byte
	mutable   bool
}

// readLayout walks the sections of a module. It reads what it needs, and the
// length of every list: wazero makes room for as many elements as a module
// announces, so that a few bytes could ask for gigabytes. The rest is left to
// the compiler's own validation.
func readLayout(binary []byte) (*layout, error) {
	body, err := header(binary)
	if err != nil {
		return nil, err
	}
	l := &layout{exports: map[string]exported{}}
	r := &reader{data: binary, at: len(binary) - len(body)}
	for r.left() > 0 {
		s := section{id: r.byte()}
		size := r.u32()
		begin := r.at
		s.payload = r.take(size)
		if r.err != nil {
			return nil, fmt.Errorf("the module is torn: %w", r.err)
		}
		l.sections = append(l.sections, s)
		if err := l.read(s.id, &reader{data: binary[:r.at], at: begin}); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func header(module []byte) ([]byte, error) {
	switch {
	case len(module) < 8 || !bytes.HasPrefix(module, []byte("\x00asm")):
		return nil, errors.New("not a WebAssembly module: it does not begin with \\0asm")
	case binary.LittleEndian.Uint16(module[6:]) == 1:
		return nil, errors.New("a WebAssembly component: build a core module (for Go: GOOS=wasip1 GOARCH=wasm, -buildmode=c-shared)")
	case binary.LittleEndian.Uint32(module[4:]) != 1:
		return nil, fmt.Errorf("a WebAssembly module of version %d: only version 1 is supported", binary.LittleEndian.Uint32(module[4:]))
	}
	return module[8:], nil
}

func (l *layout) read(id byte, r *reader) error {
	each := func(what string, one func()) error {
		for range r.count() {
			one()
		}
		if r.err == nil && r.left() > 0 {
			r.fail("%d bytes after the last element", r.left())
		}
		if r.err != nil {
			return fmt.Errorf("%s section: %w", what, r.err)
		}
		return nil
	}
	switch id {
	case sectionType:
		return each("type", func() { l.readType(r) })
	case sectionFunction:
		return each("function", func() { l.functions = append(l.functions, r.u32()) })
	case sectionImport:
		return each("import", func() { l.readImport(r) })
	case sectionTable:
		return each("table", func() { l.sizes.readTable(r) })
	case sectionMemory:
		return each("memory", func() { l.readMemory(r) })
	case sectionGlobal:
		return each("global", func() { l.readGlobal(r) })
	case sectionExport:
		return each("export", func() {
			name := r.name()
			l.exports[name] = exported{kind: r.byte(), index: r.u32()}
		})
	case sectionStart:
		l.start = true
	case sectionElement:
		return each("element", func() { l.sizes.readSegment(r) })
	case sectionCode:
		return each("code", func() { l.readCode(r) })
	case sectionData:
		return each("data", func() { readData(r) })
	case sectionCustom, sectionDataCount:
	default:
		return fmt.Errorf("section %d is not supported in this version", id)
	}
	return nil
}

func (l *layout) readType(r *reader) {
	if form := r.byte(); form != 0x60 {
		r.fail("a type of form %#x: only functions are supported in this version", form)
	}
	l.types = append(l.types, functionType{params: r.valueTypes(), results: r.valueTypes()})
}

func (l *layout) readImport(r *reader) {
	i := imported{module: r.name(), name: r.name()}
	switch kind := r.byte(); {
	case r.err != nil:
	case int(kind) >= len(kinds):
		r.fail("an import of unknown kind %d", kind)
	case kind != kindFunction:
		r.fail("imports the %s %q of %q: only functions can be imported", kinds[kind], i.name, i.module)
	default:
		l.functions = append(l.functions, r.u32())
		l.imports = append(l.imports, i)
	}
}

func (l *layout) readMemory(r *reader) {
	flags := r.byte()
	pages := r.leb(10)
	if flags&1 != 0 {
		r.leb(10) // the maximum
	}
	if l.memories++; l.memories == 1 {
		l.pages, l.shared = pages, flags&2 != 0
	}
}

func (l *layout) readGlobal(r *reader) {
	g := global{valueType: r.valueType()}
	g.mutable = r.byte() != 0
	skipExpression(r)
	l.globals = append(l.globals, g)
}
