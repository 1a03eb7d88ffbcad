package guest

import "unsafe"

// Capacity is the size of the longest record, in bytes.
const Capacity = 64 << 10

// area is where the agent writes records. It is static, so that its address
// holds for the life of the instance.
type area struct {
	capacity, length uint32
	data             [Capacity]byte
}

// calls is what a call writes: first where the fields lie, then, in one piece
// with that, the input area, which begins with the record.
var calls struct {
	memory
	area
}

// Input is wardlet_input: the address of the input area.
func Input() unsafe.Pointer {
	calls.capacity = Capacity
	return unsafe.Pointer(&calls.area)
}
