package guest

import (
	"errors"
	"unsafe"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// memory is the state of the current call.
type memory struct {
	// fault is the first misuse of the SDK since the call began.
	fault string
	// used is how many bytes of the input area are in use: by the record, and by what was
	// stored after it.
	used  int
	stage stage
	// reason is the first reason that was made in the call. It is set if reasoned is true.
	reasoned bool
	reason   Reason
	// index has the fields. Their values are in the input area, except fetched values for
	// which the area had no room.
	index record.Index
}

// Reason is the reason of the answer of a hook.
type Reason struct{ Code, Message string }

// NewReason makes a reason. The first reason of a call, which is usually the only one,
// needs no heap memory.
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

// text returns the record. The rest of the input area becomes free.
func (a *area) text() (string, error) {
	if a.length > Capacity {
		return "", errors.New("the record is longer than the input area")
	}
	if a.length == 0 && len(fields.recorded) == 0 {
		return "\x00\x00", nil
	}
	return unsafe.String((*byte)(a.base()), a.length), nil
}

// free returns the unused rest of the input area. It is empty while no pod is judged.
func (m *memory) free() []byte {
	if m.stage != judging {
		return nil
	}
	return (*[Capacity]byte)(calls.base())[m.used:]
}

// keep reserves the first n bytes of the free memory for the rest of the call, and returns
// them.
func keep(n int) []byte {
	kept := calls.free()[:n:n]
	calls.used += n
	return kept
}

// Grow makes room for n more bytes after those of b. b must be nil or a result of Grow. If
// b is the latest result of Grow, its bytes are not copied: the memory after it is added.
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

// smallest is the least number of bytes that Grow adds.
const smallest = 1 << 10

// adjoins reports whether free begins at the end of the capacity of b.
func adjoins(b, free []byte) bool {
	return len(free) > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(b)))+uintptr(cap(b)) == uintptr(unsafe.Pointer(unsafe.SliceData(free)))
}

// Text returns a string in the memory of b, which must not change any more.
func Text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
