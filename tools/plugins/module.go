package main

import (
	"bytes"
	"errors"
	"fmt"
)

// module has the imports and exports of a WebAssembly module.
type module struct {
	imports []function
	exports []string
	// start is true if a function runs when the module is instantiated.
	start bool
}

type function struct{ module, name string }

// The sections that are read.
const (
	sectionImport = 2
	sectionExport = 7
	sectionStart  = 8
)

// readModule reads the sections of a module.
func readModule(data []byte) (*module, error) {
	body, ok := bytes.CutPrefix(data, []byte("\x00asm\x01\x00\x00\x00"))
	if !ok {
		return nil, errors.New("not a WebAssembly module of version 1")
	}
	m := &module{}
	r := &reader{data: body}
	for len(r.data) > 0 && r.err == nil {
		id := r.byte()
		section := &reader{data: r.take(r.number())}
		switch id {
		case sectionImport:
			m.readImports(section)
		case sectionExport:
			m.readExports(section)
		case sectionStart:
			m.start = true
		}
		r.err = errors.Join(r.err, section.err)
	}
	if r.err != nil {
		return nil, fmt.Errorf("a torn WebAssembly module: %w", r.err)
	}
	return m, nil
}

func (m *module) readImports(r *reader) {
	for n := r.number(); n > 0 && r.err == nil; n-- {
		f := function{string(r.take(r.number())), string(r.take(r.number()))}
		if kind := r.byte(); kind != 0 {
			r.fail(fmt.Errorf("%s of %s is imported and no function", f.name, f.module))
		}
		r.number() // its type
		m.imports = append(m.imports, f)
	}
}

func (m *module) readExports(r *reader) {
	for n := r.number(); n > 0 && r.err == nil; n-- {
		m.exports = append(m.exports, string(r.take(r.number())))
		r.byte()   // its kind
		r.number() // its index
	}
}

// reader reads from the front of data. It keeps the first error. After that, everything reads as
// zero.
type reader struct {
	data []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.data = nil
}

func (r *reader) take(n uint32) []byte {
	if uint64(n) > uint64(len(r.data)) {
		r.fail(fmt.Errorf("%d bytes are announced, %d are left", n, len(r.data)))
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *reader) byte() byte {
	if taken := r.take(1); len(taken) == 1 {
		return taken[0]
	}
	return 0
}

// number reads an unsigned LEB128 of at most 32 bits.
func (r *reader) number() uint32 {
	var n uint64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if n > 1<<32-1 {
				break
			}
			return uint32(n)
		}
	}
	r.fail(errors.New("a number has more than 32 bits"))
	return 0
}
