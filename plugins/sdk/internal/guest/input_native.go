//go:build !wasip1

package guest

import (
	"unsafe"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// native is the input area's data in a test. There nothing is put back after a
// call, and a test may look at what its policy kept: so each record has memory
// of its own.
var native = new([Capacity]byte)

func (a *area) base() unsafe.Pointer { return unsafe.Pointer(native) }

// forget ends the record: fields that are read after it are a mistake.
func (m *memory) forget() { m.index = record.Index{} }

// Fill puts a record into the input area as the agent does. It reports whether
// there is room for it.
func Fill(record []byte) bool {
	if len(record) > Capacity {
		return false
	}
	native = new([Capacity]byte)
	calls.length = uint32(copy(native[:], record))
	return true
}
