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
// room for. The values share the memory of text.
func Parse(text string, fields []Value) error {
	if len(text) < 2 {
		return errTorn
	}
	if int(u16(text)) != len(fields) {
		return errFields
	}
	rest := text[2:]
	for handle := range fields {
		if len(rest) < 2 {
			return errTorn
		}
		if int(u16(rest)) != handle {
			return errFields
		}
		var ok bool
		if fields[handle], rest, ok = cutValue(rest[2:]); !ok {
			return errTorn
		}
		if !fields[handle].sound(maxDepth) {
			return errValue
		}
	}
	if rest != "" {
		return errTrailed
	}
	return nil
}

// ParseValue reads a single value that fills text.
func ParseValue(text string) (Value, error) {
	v, rest, ok := cutValue(text)
	switch {
	case !ok:
		return Value{}, errTorn
	case rest != "":
		return Value{}, errTrailed
	case !v.sound(maxDepth):
		return Value{}, errValue
	}
	return v, nil
}

// sound reports whether the value's bytes are as its kind wants them.
func (v Value) sound(depth int) bool {
	switch v.Kind {
	case Missing:
		return v.data == ""
	case String, JSON:
		return true
	case Bool:
		return len(v.data) == 1
	case Int, Float:
		return len(v.data) == 8
	case List:
		return depth > 0 && v.counts(func(rest string) (string, bool) {
			element, rest, ok := cutValue(rest)
			return rest, ok && element.sound(depth-1)
		})
	case Map:
		return v.counts(func(rest string) (string, bool) {
			_, rest, ok := cutText(rest)
			if ok {
				_, rest, ok = cutText(rest)
			}
			return rest, ok
		})
	default:
		return false
	}
}

// counts reports whether what follows the count is that many parts, each of
// which one cuts off.
func (v Value) counts(one func(rest string) (string, bool)) bool {
	if len(v.data) < 4 {
		return false
	}
	n, rest := uint64(u32(v.data)), v.data[4:]
	for ; n > 0; n-- {
		var ok bool
		if rest, ok = one(rest); !ok {
			return false
		}
	}
	return rest == ""
}

// cutValue takes the value that s begins with.
func cutValue(s string) (v Value, rest string, ok bool) {
	if len(s) < 1 {
		return Value{}, "", false
	}
	data, rest, ok := cutText(s[1:])
	return Value{Kind(s[0]), data}, rest, ok
}

// cutText takes the u32 length and that many bytes that s begins with.
func cutText(s string) (text, rest string, ok bool) {
	if len(s) < 4 {
		return "", "", false
	}
	n := uint64(u32(s))
	if s = s[4:]; n > uint64(len(s)) {
		return "", "", false
	}
	return s[:n], s[n:], true
}

func u16(s string) uint16 { return uint16(s[0]) | uint16(s[1])<<8 }

func u32(s string) uint32 { return uint32(u16(s)) | uint32(u16(s[2:]))<<16 }

func u64(s string) uint64 { return uint64(u32(s)) | uint64(u32(s[4:]))<<32 }
