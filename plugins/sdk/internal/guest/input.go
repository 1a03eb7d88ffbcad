package guest

import (
	"errors"
	"unsafe"
)

// Capacity is the size of the longest record, in bytes.
const Capacity = 64 << 10

// area is where the agent writes records. It is static, so that its address
// holds for the life of the instance.
type area struct {
	capacity, length uint32
	data             [Capacity]byte
}

var input area

// Input is wardlet_input: the address of the input area.
func Input() unsafe.Pointer {
	input.capacity = Capacity
	return unsafe.Pointer(&input)
}

// text is a copy of the record: what a policy keeps of it stays as it is when
// the agent writes the next one.
func (a *area) text() (string, error) {
	if a.length > Capacity {
		return "", errors.New("the record is longer than the input area")
	}
	if a.length == 0 && len(state.paths) == 0 {
		return "\x00\x00", nil
	}
	return string(a.data[:a.length]), nil
}

// Fill puts a record into the input area as the agent does. It reports whether
// there is room for it.
func Fill(record []byte) bool {
	if len(record) > Capacity {
		return false
	}
	input.length = uint32(copy(input.data[:], record))
	return true
}
