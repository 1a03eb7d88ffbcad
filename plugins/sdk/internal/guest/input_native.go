//go:build !wasip1

package guest

import (
	"unsafe"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// native is the data of the input area in a test. In tests, memory is not reset after a
// call, and a test may read values that its policy kept. So each record has new memory.
var native = new([Capacity]byte)

func (a *area) base() unsafe.Pointer { return unsafe.Pointer(native) }

// forget removes the record, so that reading a field after the call is an error.
func (m *memory) forget() { m.index = record.Index{} }

// Fill writes a record into the input area as the agent does. It reports whether the area
// has room for the record.
func Fill(record []byte) bool {
	if len(record) > Capacity {
		return false
	}
	native = new([Capacity]byte)
	calls.length = uint32(copy(native[:], record))
	return true
}
