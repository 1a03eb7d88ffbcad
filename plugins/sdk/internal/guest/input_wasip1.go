package guest

import "unsafe"

// base is where the record begins: it is read where the agent wrote it. No reference to it outlives
// the call, because the agent restores the whole memory after each call.
func (a *area) base() unsafe.Pointer { return unsafe.Pointer(&a.data) }

// forget is for tests. In a module nothing reads a field after the call, and
// the agent puts the index back with the rest of the memory.
func (m *memory) forget() {}
