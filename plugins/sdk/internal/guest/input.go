package guest

import "unsafe"

// Capacity is the length of the longest record, in bytes.
const Capacity = 64 << 10

// area is the input area, into which the agent writes records. It is static, so that its
// address does not change during the life of the instance.
type area struct {
	capacity, length uint32
	data             [Capacity]byte
}

// calls is the memory that a call writes to, in one piece: first the index of the fields,
// and then the input area, which begins with the record.
var calls struct {
	memory
	area
}

// Input implements wardlet_input: it returns the address of the input area.
func Input() unsafe.Pointer {
	calls.capacity = Capacity
	return unsafe.Pointer(&calls.area)
}
