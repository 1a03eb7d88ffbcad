package wasm

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// maxGap is how many zeros joinData puts between two pieces of data rather
// than keeping them apart: about what wazero needs to remember a piece.
const maxGap = 128

// piece is a row of bytes that stands in the memory from the start.
type piece struct {
	address int64
	content []byte
}

// joinData joins the pieces of a data section that lie next to each other in
// memory. Go's linker makes some ten thousand small ones, leaving zeros out,
// and wazero needs more memory for their places than for their content.
//
// It may be done where no instruction names a piece, which takes a data count
// section. What is not a set of pieces at constant addresses that do not
// overlap is given back as it is.
func joinData(section []byte) []byte {
	r := &reader{data: section}
	n := r.count()
	pieces := make([]piece, 0, min(n, len(section)/5)) // each takes five bytes at least
	for range n {
		p, ok := readPiece(r)
		if !ok {
			return section
		}
		pieces = append(pieces, p)
	}
	if r.err != nil || r.left() > 0 {
		return section
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.address, b.address) })
	var joined []piece
	for _, p := range pieces {
		gap := int64(maxGap + 1)
		if i := len(joined) - 1; i >= 0 {
			gap = p.address - joined[i].address - int64(len(joined[i].content))
		}
		switch {
		case gap < 0:
			return section
		case gap > maxGap:
			joined = append(joined, piece{p.address, bytes.Clone(p.content)})
		default:
			last := &joined[len(joined)-1]
			last.content = append(append(last.content, make([]byte, gap)...), p.content...)
		}
	}
	out := binary.AppendUvarint(nil, uint64(len(joined)))
	for _, p := range joined {
		out = append(appendSigned(append(out, 0, 0x41), p.address), 0x0b)
		out = binary.AppendUvarint(out, uint64(len(p.content)))
		out = append(out, p.content...)
	}
	return out
}

// readPiece reads an active segment at a constant address.
func readPiece(r *reader) (p piece, ok bool) {
	if r.byte() != 0 || r.byte() != 0x41 { // of memory 0, i32.const
		return piece{}, false
	}
	p.address = r.signed32()
	ok = r.byte() == 0x0b && p.address >= 0 // end
	p.content = r.take(r.u32())
	return p, ok && r.err == nil
}

// appendSigned appends a number of at least 0 in signed LEB128.
func appendSigned(out []byte, n int64) []byte {
	for n > 63 {
		out = append(out, byte(n&0x7f)|0x80)
		n >>= 7
	}
	return append(out, byte(n))
}
