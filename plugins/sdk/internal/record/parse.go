package record

import (
	"errors"
	"unsafe"
)

// MaxFields is the greatest number of fields of a record.
const MaxFields = 64

// maxDepth is how deep lists may lie in lists.
const maxDepth = 32

var (
	errTorn    = errors.New("the record is torn")
	errFields  = errors.New("the record holds other fields than were declared")
	errValue   = errors.New("the record holds a malformed value")
	errTrailed = errors.New("the record has bytes after its last field")
)

// Index holds the fields of a record; Missing ones where it has none. They
// begin at its end, beside what follows it in memory.
type Index [MaxFields]Value

// Of is where the field of a handle is, from 0 to below MaxFields.
func (x *Index) Of(handle uint) *Value { return &x[(MaxFields-1-handle)%MaxFields] }

// Parse fills in the fields of a record: those of the given handles, which must
// be in order and each below MaxFields. The values share the memory of text.
// What lists and maps are made of is looked at when it is read: most policies
// leave before the last.
func (x *Index) Parse(text string, handles []uint16) error {
	if len(text) < 2 {
		return errTorn
	}
	base := unsafe.Pointer(unsafe.StringData(text))
	first := (*[2]byte)(base)
	if int(first[0])|int(first[1])<<8 != len(handles) {
		return errFields
	}
	// Errors that do no harm while parsing are checked once at the end, because each branch costs
	// time. other is not 0 if a handle is not the expected one, unfit is negative if a value has a
	// length that its kind does not allow.
	at, other, unfit := len(first), uint16(0), int64(0)
	for _, handle := range handles {
		const size = 2 + header
		left := len(text) - at - size
		if left < 0 {
			return errTorn
		}
		b := (*[size]byte)(unsafe.Add(base, at))
		h := (*head)(b[2:])
		n := h.size()
		if n > left {
			return errTorn
		}
		other |= uint16(b[0]) | uint16(b[1])<<8 ^ handle
		unfit |= h.spare(n)
		*x.Of(uint(handle)) = Value{h}
		at += size + n
	}
	switch {
	case other != 0:
		return errFields
	case unfit < 0:
		return errValue
	case at != len(text):
		return errTrailed
	}
	return nil
}

// ParseValue reads a single value that fills text, and looks at all of it.
func ParseValue(text string) (Value, error) {
	v, err := Head(text)
	if err == nil && !v.sound(maxDepth) {
		return Value{}, errValue
	}
	return v, err
}

// Head reads a single value that fills text, and shares its memory. As with
// Parse, its parts are looked at when they are read.
func Head(text string) (Value, error) {
	if len(text) < header {
		return Value{}, errTorn
	}
	h := (*head)(unsafe.Pointer(unsafe.StringData(text)))
	switch n := h.size(); {
	case n > len(text)-header:
		return Value{}, errTorn
	case n < len(text)-header:
		return Value{}, errTrailed
	case !h.fits(n):
		return Value{}, errValue
	}
	return Value{h}, nil
}

// sound reports whether all parts of the value are as their kinds want them.
func (v Value) sound(depth int) bool {
	if !v.Is(List) && !v.Is(Map) {
		return true
	}
	parts, n := v.Parts(), 0
	for ; ; n++ {
		if v.Is(Map) {
			if _, _, ok := parts.Entry(); !ok {
				return n == v.Len() && !parts.More()
			}
			continue
		}
		element, ok := parts.Next()
		switch {
		case !ok:
			return depth > 0 && n == v.Len() && !parts.More()
		case !element.sound(depth - 1):
			return false
		}
	}
}
