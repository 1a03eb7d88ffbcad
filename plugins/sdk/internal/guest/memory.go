package guest

import (
	"errors"
	"unsafe"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// memory is what a plugin knows of the call that is under way.
type memory struct {
	// values are those of the fields. They begin at first, so that they end
	// beside what else a call writes. fetched has a bit for each that is there,
	// by handle; none where no pod is judged.
	values  [record.MaxFields]record.Value
	first   int
	fetched uint64
	stage   stage
	// fault is the first misuse of the SDK since the call began.
	fault string
	// free is the rest of the input area; nil where no pod is judged.
	free []byte
}

// text is the record. What follows it in the input area becomes free.
func (m *memory) text(a *area) (string, error) {
	if a.length > Capacity {
		return "", errors.New("the record is longer than the input area")
	}
	if a.length == 0 && fields.recorded == 0 {
		return "\x00\x00", nil
	}
	data := a.received()
	m.free = data[a.length:]
	return Text(data[:a.length]), nil
}

// keep takes the first n bytes of the free memory. They are not used again in
// this call.
func keep(n int) []byte {
	kept := calls.free[:n:n]
	calls.free = calls.free[n:]
	return kept
}

// Grow makes room for n more bytes behind those of b, which Grow made, or which
// is nil. The last one made stays where it is and only becomes longer.
func Grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	free := calls.free
	if more := max(n, smallest); more <= len(free) && adjoins(b, free) {
		calls.free = free[more:]
		return unsafe.Slice(unsafe.SliceData(b), cap(b)+more)[:len(b)]
	}
	size := len(b) + max(n, len(b), smallest)
	if size > len(free) {
		return append(make([]byte, 0, size), b...)
	}
	calls.free = free[size:]
	return free[:copy(free, b):size]
}

// smallest is how many bytes Grow takes at least.
const smallest = 1 << 10

// adjoins reports whether free begins where the room of b ends.
func adjoins(b, free []byte) bool {
	return len(free) > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(b)))+uintptr(cap(b)) == uintptr(unsafe.Pointer(unsafe.SliceData(free)))
}

// Text is a string in the memory of b, which nobody changes any more.
func Text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
