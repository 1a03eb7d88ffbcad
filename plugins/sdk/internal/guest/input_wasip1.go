package guest

import "unsafe"

// base is where the record begins: it is read where the agent wrote it. Nothing
// that refers to it outlives the call, because nothing does.
func (a *area) base() unsafe.Pointer { return unsafe.Pointer(&a.data) }

// forget is for tests. In a module nothing reads a field after the call, and
// the agent puts the index back with the rest of the memory.
func (m *memory) forget() {}
