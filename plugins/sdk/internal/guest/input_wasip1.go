package guest

import "unsafe"

// base returns the address of the record, which is not copied. No reference to the record
// outlives the call, because the agent restores the whole memory after each call.
func (a *area) base() unsafe.Pointer { return unsafe.Pointer(&a.data) }

// forget does something only in tests. In a module nothing reads a field after the call,
// and the agent resets the index with the rest of the memory.
func (m *memory) forget() {}
