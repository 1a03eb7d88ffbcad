package wasm

import "encoding/binary"

// Bounds of a module's tables, and of the segments they are filled from. An
// entry takes 8 bytes, an element some 80 while wazero holds it.
const (
	maxTables       = 16
	maxTableEntries = 64 << 10
	maxSegments     = 1024
	maxElements     = 64 << 10
)

// tableSizes is how many tables and segments a module has, and how much is in
// all of them together.
type tableSizes struct {
	tables, segments  int
	entries, elements uint64
}

func (s *tableSizes) readTable(r *reader) {
	_, entries := readTable(r)
	s.entries += uint64(entries)
	s.tables++
	switch {
	case s.tables > maxTables:
		r.fail("more than %d tables are not supported in this version", maxTables)
	case s.entries > maxTableEntries:
		r.fail("tables of %d entries together: at most %d are supported in this version", s.entries, maxTableEntries)
	}
}

// readTable reads a table's type and size, and refuses every form that
// fixTables could not write.
func readTable(r *reader) (reference byte, entries uint32) {
	const bounded, shared, wide = 1, 2, 4
	if reference = r.byte(); reference == 0x40 {
		r.fail("a table with an initialiser is not supported in this version")
	}
	r.checkReference(reference)
	flags := r.byte()
	switch {
	case flags > bounded|shared|wide:
		r.fail("a table whose limits have form %#x is not supported in this version", flags)
	case flags&wide != 0:
		r.fail("a 64-bit table is not supported in this version")
	case flags&shared != 0:
		r.fail("a shared table is not supported in this version")
	}
	entries = r.u32()
	if flags&bounded != 0 {
		if most := r.u32(); most < entries {
			r.fail("a table of %d entries that may have %d at most", entries, most)
		}
	}
	return reference, entries
}

// checkReference refuses references to anything but functions and objects of
// the host.
func (r *reader) checkReference(reference byte) {
	if reference != 0x70 && reference != 0x6f {
		r.fail("references of type %#x are not supported in this version", reference)
	}
}

// fixTables gives a table section in which every table's size is its maximum:
// table.grow then answers -1. wazero would get the entries from Go's heap, and
// the process ends when that has no more.
func fixTables(section []byte) []byte {
	r := &reader{data: section}
	n := r.count()
	out := binary.AppendUvarint(nil, uint64(n))
	for range n {
		reference, entries := readTable(r)
		out = append(out, reference, 1)
		out = binary.AppendUvarint(out, uint64(entries))
		out = binary.AppendUvarint(out, uint64(entries))
	}
	return out
}

// readSegment reads a piece of a table.
func (s *tableSizes) readSegment(r *reader) {
	const passive, named, expressions = 1, 2, 4
	flags := r.u32()
	if flags > passive|named|expressions {
		r.fail("elements of unknown kind %d", flags)
	}
	if flags&passive == 0 {
		if flags&named != 0 {
			r.u32() // the table
		}
		skipExpression(r)
	}
	if flags&(passive|named) != 0 {
		if kind := r.byte(); flags&expressions != 0 {
			r.checkReference(kind)
		} else if kind != kindFunction {
			r.fail("elements of kind %#x are not supported in this version", kind)
		}
	}
	n := r.count()
	s.elements += uint64(n)
	s.segments++
	switch {
	case s.segments > maxSegments:
		r.fail("more than %d segments of elements are not supported in this version", maxSegments)
	case s.elements > maxElements:
		r.fail("segments of %d elements together: at most %d are supported in this version", s.elements, maxElements)
	}
	for range n {
		if r.err != nil {
			return
		}
		if flags&expressions != 0 {
			skipExpression(r)
		} else {
			r.u32()
		}
	}
}
