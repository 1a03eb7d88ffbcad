package wasm

import (
	"bytes"

	"github.com/tetratelabs/wazero/api"
)

// blockSize is the grain of a snapshot, in bytes: a page of most systems.
const blockSize = 4 << 10

var zeroBlock [blockSize]byte

// snapshot is what an instance is put back to after each call: its whole
// linear memory, of which blocks of zeros take no room, and its mutable
// globals.
type snapshot struct {
	size uint32
	// blocks are places in contents, one for each block of the memory, -1 for
	// zeros.
	blocks   []int32
	contents []byte
	globals  []api.MutableGlobal
	values   []uint64
}

func takeSnapshot(memory []byte, globals []api.MutableGlobal) *snapshot {
	s := &snapshot{size: uint32(len(memory)), globals: globals}
	for at := 0; at < len(memory); at += blockSize {
		place := int32(-1)
		if block := memory[at : at+blockSize]; !bytes.Equal(block, zeroBlock[:]) {
			place = int32(len(s.contents))
			s.contents = append(s.contents, block...)
		}
		s.blocks = append(s.blocks, place)
	}
	s.contents = bytes.Clone(s.contents) // without the room that append left
	for _, g := range globals {
		s.values = append(s.values, g.Get())
	}
	return s
}

// restore puts memory and globals back. It writes only to blocks that differ,
// so that pages which no call ever writes stay out of the resident memory.
func (s *snapshot) restore(memory []byte) {
	for i, place := range s.blocks {
		was := zeroBlock[:]
		if place >= 0 {
			was = s.contents[place : place+blockSize]
		}
		if block := memory[i*blockSize : (i+1)*blockSize]; !bytes.Equal(block, was) {
			copy(block, was)
		}
	}
	for i, g := range s.globals {
		g.Set(s.values[i])
	}
}
