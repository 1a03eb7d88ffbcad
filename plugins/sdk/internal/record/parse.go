package record

import (
	"errors"
	"unsafe"
)

// MaxFields is the largest number of fields in a record.
const MaxFields = 64

// maxDepth is how deeply lists may be nested.
const maxDepth = 32

var (
	errTorn    = errors.New("the record is torn")
	errFields  = errors.New("the record holds other fields than were declared")
	errValue   = errors.New("the record holds a malformed value")
	errTrailed = errors.New("the record has bytes after its last field")
)

// Index has the fields of a record by handle, Missing for handles that the record does not
// have. Handle 0 is the last element, so that the used elements are next to what follows
// the Index in memory.
type Index [MaxFields]Value

// Of returns the place of the field with a handle, which must be less than MaxFields.
func (x *Index) Of(handle uint) *Value { return &x[(MaxFields-1-handle)%MaxFields] }

// Parse stores the fields of a record. The record must have the fields with these handles,
// which must be in order and less than MaxFields. The values share the memory of text.
// Parse does not check the elements of lists and maps. They are checked when they are read,
// because most policies do not read them all.
func (x *Index) Parse(text string, handles []uint16) error {
	if len(text) < 2 {
		return errTorn
	}
	base := unsafe.Pointer(unsafe.StringData(text))
	first := (*[2]byte)(base)
	if int(first[0])|int(first[1])<<8 != len(handles) {
		return errFields
	}
	// Errors that do no harm while parsing are checked once at the end, because each branch
	// costs time. other is not 0 if a handle is not the expected handle. unfit is negative
	// if a value has a length that its kind does not allow.
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

// ParseValue parses a single value that fills text, and checks all its parts.
func ParseValue(text string) (Value, error) {
	v, err := Head(text)
	if err == nil && !v.sound(maxDepth) {
		return Value{}, errValue
	}
	return v, err
}

// Head parses a single value that fills text, and shares its memory. Like Parse, it does
// not check the parts of the value.
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

// sound reports whether all parts of the value are valid.
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
