package wasm

import (
	"encoding/binary"
	"fmt"
)

// globalPrefix begins the names that mutable globals are exported by.
const globalPrefix = "wardlet:global:"

// rewrite gives the module as it is compiled: with every mutable global
// exported, so that it can be read and put back, with tables that cannot grow,
// with its data in few pieces, and without the sections that only people and debuggers read. names are
// those that the globals got.
func (l *layout) rewrite() (module []byte, names []string) {
	var entries []byte
	for i, g := range l.globals {
		if g.mutable {
			name := fmt.Sprintf("%s%d", globalPrefix, i)
			names = append(names, name)
			entries = binary.AppendUvarint(entries, uint64(len(name)))
			entries = append(entries, name...)
			entries = append(entries, 3) // a global
			entries = binary.AppendUvarint(entries, uint64(i))
		}
	}
	counted := false
	for _, s := range l.sections {
		counted = counted || s.id == sectionDataCount
	}
	module = append(module, "\x00asm\x01\x00\x00\x00"...)
	for _, s := range l.sections {
		payload := s.payload
		switch {
		case s.id == sectionCustom:
			continue
		case s.id == sectionExport:
			payload = lengthen(payload, len(names), entries)
		case s.id == sectionTable:
			payload = fixTables(payload)
		case s.id == sectionData && !counted:
			payload = joinData(payload)
		}
		module = append(module, s.id)
		module = binary.AppendUvarint(module, uint64(len(payload)))
		module = append(module, payload...)
	}
	return module, names
}

// lengthen appends n entries to a list that begins with its length.
func lengthen(list []byte, n int, entries []byte) []byte {
	r := &reader{data: list}
	out := binary.AppendUvarint(nil, uint64(r.count()+n))
	return append(append(out, list[r.at:]...), entries...)
}
