package meter

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/wardlet/wardlet/core/policy/wasm/module"
)

// maxGap is the longest gap between two pieces of data that joinData fills with
// zeros. A gap of this length uses about as much memory as wazero needs for a
// piece.
const maxGap = 128

// piece is a sequence of bytes that is in the memory from the start.
type piece struct {
	address int64
	content []byte
	// place is the index of the piece in its section. Pieces at the same address
	// keep their order.
	place int
}

// joinData joins the pieces of a data section that are next to each other in
// memory. Go's linker makes some ten thousand small pieces, because it leaves out
// zeros, and wazero needs more memory for their headers than for their content.
//
// joinData may be called only if no instruction refers to a piece, which would need
// a data count section. If the pieces overlap, or one is not at a constant address,
// joinData returns the section unchanged.
func joinData(m *module.Module, section []byte) []byte {
	pieces := make([]piece, 0, len(m.Data))
	for i := range m.Data {
		p, ok := pieceOf(&m.Data[i])
		if !ok {
			return section
		}
		p.place = i
		pieces = append(pieces, p)
	}
	slices.SortFunc(pieces, func(a, b piece) int { // a stable sort would take n log² n
		return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.place, b.place))
	})
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
			joined = append(joined, piece{address: p.address, content: bytes.Clone(p.content)})
		default:
			last := &joined[len(joined)-1]
			last.content = append(append(last.content, make([]byte, gap)...), p.content...)
		}
	}
	out := binary.AppendUvarint(nil, uint64(len(joined)))
	for _, p := range joined {
		out = append(appendSigned(append(out, 0, byte(module.OpI32Const)), p.address), byte(module.OpEnd))
		out = binary.AppendUvarint(out, uint64(len(p.content)))
		out = append(out, p.content...)
	}
	return out
}

// pieceOf returns a segment as a piece, false unless it is active at a constant
// address.
func pieceOf(d *module.Data) (p piece, ok bool) {
	address, ok := d.Address()
	return piece{address: int64(address), content: d.Content}, ok && address < 1<<31
}
