package record

import "errors"

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

// Parse reads a record whose fields are numbered from 0, as many as fields has
// room for, without those whose bit is set in lazy. The values share the
// memory of text. What lists and maps are made of is looked at when it is
// read: most policies leave before the last.
func Parse(text string, fields []Value, lazy uint64) error {
	if len(text) < 2 {
		return errTorn
	}
	count, rest := int(u16(text)), text[2:]
	for handle := range fields {
		if lazy>>handle&1 != 0 {
			fields[handle] = Value{}
			continue
		}
		if count--; count < 0 {
			return errFields
		}
		if len(rest) < 2+header {
			return errTorn
		}
		if int(rest[0])|int(rest[1])<<8 != handle {
			return errFields
		}
		k, n := Kind(rest[2]), 2+header+(int(rest[3])|int(rest[4])<<8|int(rest[5])<<16|int(rest[6])<<24)
		switch {
		case n < header || n > len(rest):
			return errTorn
		case k != String && !k.fits(n-2-header):
			return errValue
		}
		fields[handle] = Value{k, rest[2+header : n]}
		rest = rest[n:]
	}
	switch {
	case count != 0:
		return errFields
	case rest != "":
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

// Head reads a single value that fills text. As with Parse, its parts are
// looked at when they are read.
func Head(text string) (Value, error) {
	v, rest, ok := cutValue(text)
	switch {
	case !ok:
		return Value{}, errTorn
	case rest != "":
		return Value{}, errTrailed
	case !v.Kind.fits(len(v.data)):
		return Value{}, errValue
	}
	return v, nil
}

// header is the length of what stands before a value's bytes.
const header = 5

// fits reports whether a value of a kind can have n bytes. A kind of a later
// version can have any: whoever reads the value says that it is unknown,
// everybody else skips it.
func (k Kind) fits(n int) bool {
	switch k {
	case Missing:
		return n == 0
	case Bool:
		return n == 1
	case Int, Float:
		return n == 8
	case List, Map:
		return n >= 4
	}
	return true
}

// sound reports whether the value and all its parts are as their kinds want
// them.
func (v Value) sound(depth int) bool {
	if !v.Kind.fits(len(v.data)) {
		return false
	}
	switch v.Kind {
	case List:
		n := 0
		for element := range v.Elements() {
			if n++; element.Kind == Torn || !element.sound(depth-1) {
				return false
			}
		}
		return depth > 0 && n == v.Len()
	case Map:
		parts, n := v.Parts(), 0
		for ; !parts.Whole(); n++ {
			if _, _, ok := parts.Entry(); !ok {
				return false
			}
		}
		return n == v.Len()
	}
	return true
}

// cutValue takes the value that s begins with.
func cutValue(s string) (v Value, rest string, ok bool) {
	if len(s) < header {
		return Value{}, "", false
	}
	n := uint64(u32(s[1:])) + header
	if n > uint64(len(s)) {
		return Value{}, "", false
	}
	return Value{Kind(s[0]), s[header:n]}, s[n:], true
}

// cutText takes the u32 length and that many bytes that s begins with.
func cutText(s string) (text, rest string, ok bool) {
	if len(s) < 4 {
		return "", s, false
	}
	n := uint64(u32(s)) + 4
	if n > uint64(len(s)) {
		return "", s, false
	}
	return s[4:n], s[n:], true
}

func u16(s string) uint16 { return uint16(s[0]) | uint16(s[1])<<8 }

func u32(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func u64(s string) uint64 { return uint64(u32(s)) | uint64(u32(s[4:]))<<32 }
