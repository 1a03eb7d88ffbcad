//go:build !wasip1

package guest

// native is the input area's data in a test. There nothing is put back after a
// call, and a test may look at what its policy kept: so each record has memory
// of its own.
var native []byte

func (a *area) received() []byte { return native }

// Fill puts a record into the input area as the agent does. It reports whether
// there is room for it.
func Fill(record []byte) bool {
	if len(record) > Capacity {
		return false
	}
	native = make([]byte, Capacity)
	calls.length = uint32(copy(native, record))
	return true
}
