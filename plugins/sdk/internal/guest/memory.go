package guest

import (
	"errors"
	"unsafe"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// memory is what a plugin knows of the call that is under way.
type memory struct {
	// fault is the first misuse of the SDK since the call began.
	fault string
	// used is how many bytes of the input area hold the record, and what came
	// behind it.
	used  int
	stage stage
	// reason is the first one that is made in a call, if reasoned.
	reasoned bool
	reason   Reason
	// index are the fields, which lie in the input area, unless they were fetched
	// and found no room there.
	index record.Index
}

// Reason is why a hook answers as it does.
type Reason struct{ Code, Message string }

// NewReason makes a reason. The first one of a call, mostly the only one, takes
// no memory from the heap.
func NewReason(code, message string) *Reason {
	r := &calls.reason
	if calls.reasoned || calls.stage != judging {
		r = new(Reason)
	} else {
		calls.reasoned = true
	}
	r.Code, r.Message = code, message
	return r
}

// text is the record. What follows it in the input area becomes free.
func (a *area) text() (string, error) {
	if a.length > Capacity {
		return "", errors.New("the record is longer than the input area")
	}
	if a.length == 0 && len(fields.recorded) == 0 {
		return "\x00\x00", nil
	}
	return unsafe.String((*byte)(a.base()), a.length), nil
}

// free is the rest of the input area; nothing where no pod is judged.
func (m *memory) free() []byte {
	if m.stage != judging {
		return nil
	}
	return (*[Capacity]byte)(calls.base())[m.used:]
}

// keep takes the first n bytes of the free memory. They are not used again in
// this call.
func keep(n int) []byte {
	kept := calls.free()[:n:n]
	calls.used += n
	return kept
}

// Grow makes room for n more bytes behind those of b, which Grow made, or which
// is nil. The last one made stays where it is and only becomes longer.
func Grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	free := calls.free()
	if more := max(n, smallest); more <= len(free) && adjoins(b, free) {
		calls.used += more
		return unsafe.Slice(unsafe.SliceData(b), cap(b)+more)[:len(b)]
	}
	size := len(b) + max(n, len(b), smallest)
	if size > len(free) {
		return append(make([]byte, 0, size), b...)
	}
	calls.used += size
	return free[:copy(free, b):size]
}

// smallest is how many bytes Grow takes at least.
const smallest = 1 << 10

// adjoins reports whether free begins where the room of b ends.
func adjoins(b, free []byte) bool {
	return len(free) > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(b)))+uintptr(cap(b)) == uintptr(unsafe.Pointer(unsafe.SliceData(free)))
}

// Text returns a string in the memory of b, which must not change any more.
func Text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
