package record

import (
	"iter"
	"unsafe"
)

// Kind is the type of a value.
type Kind byte

// The kinds, numbered as in the ABI.
const (
	Missing Kind = iota
	String
	Bool
	Int
	Float
	List
	Map
	JSON
)

var kindNames = [...]string{
	"missing", "a string", "a bool", "an integer", "a float", "a list", "a map of strings", "a JSON value",
}

// String names the kind with its article.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "a value of an unknown kind"
}

// Value is a pointer to a value in memory. The number of its bytes is valid for its kind,
// but the elements of a list or map may still be torn. The zero Value is Missing.
//
// A Value is a single pointer, because Go's WebAssembly copies larger values through
// memory, word by word. An accessor must only be called on a value of its kind.
type Value struct{ head *head }

// head is the header of a value: its kind and the number of the bytes that follow.
type head [header]byte

// header is the length of a head.
const header = 5

// size returns how many bytes follow the head.
func (h *head) size() int {
	return int(uint32(h[1]) | uint32(h[2])<<8 | uint32(h[3])<<16 | uint32(h[4])<<24)
}

// fits reports whether a value of the head's kind can have n bytes. A kind of a later
// version of the ABI can have any number: code that reads such a value reports an unknown
// kind, and all other code skips the value.
func (h *head) fits(n int) bool { return h.spare(n) >= 0 }

// spare returns how many more bytes than n a value of this kind may have. It is negative if
// a value cannot have n bytes.
func (h *head) spare(n int) int64 {
	s := &sizes[h[0]]
	return int64(s.more) - int64(uint32(n)-s.least)
}

// sizes has for each kind the least number of bytes of a value, and how many more bytes it
// may have.
var sizes = func() (s [256]struct{ least, more uint32 }) {
	for k := range s {
		const most = 1<<32 - 1
		switch Kind(k) {
		case Missing:
		case Bool:
			s[k].least = 1
		case Int, Float:
			s[k].least = 8
		case List, Map:
			s[k].least, s[k].more = count, most-count
		default:
			s[k].more = most
		}
	}
	return s
}()

// data returns the address of the bytes after the head. There may be none.
func (h *head) data() unsafe.Pointer { return unsafe.Add(unsafe.Pointer(h), header) }

// Kind returns the value's kind.
func (v Value) Kind() Kind {
	if v.head == nil {
		return Missing
	}
	return Kind(v.head[0])
}

// None reports whether this is the zero Value.
func (v Value) None() bool { return v.head == nil }

// Is reports whether the value is of kind k, which must not be Missing.
func (v Value) Is(k Kind) bool { return v.head != nil && Kind(v.head[0]) == k }

// Exists reports whether the value is not Missing.
func (v *Value) Exists() bool { return v.head != nil && Kind(v.head[0]) != Missing }

// Size returns how many bytes the value's content has.
func (v Value) Size() int { return v.head.size() }

// IsText reports whether a value of n bytes is a String, or Missing.
func (v Value) IsText(n int) bool {
	return Kind(v.head[0]) == String || Kind(v.head[0]) == Missing && n == 0
}

// Text returns the content of a String or JSON value.
func (v Value) Text() string { return v.TextOf(v.head.size()) }

// TextOf returns what Text returns. n must be Size, which the caller has already.
func (v Value) TextOf(n int) string {
	if n > 0 {
		return unsafe.String((*byte)(v.head.data()), n)
	}
	return ""
}

// Bool returns the content of a Bool value.
func (v Value) Bool() bool { return (*[header + 1]byte)(unsafe.Pointer(v.head))[header] != 0 }

// Int returns the content of an Int value.
func (v Value) Int() int64 { return int64(v.Bits()) }

// Bits returns the content of a Float value, for math.Float64frombits.
func (v Value) Bits() uint64 {
	b := (*[8]byte)(v.head.data())
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// Len returns the number of elements of a List, or of entries of a Map.
func (v Value) Len() int {
	b := (*[header + count]byte)(unsafe.Pointer(v.head))
	return int(uint32(b[5]) | uint32(b[6])<<8 | uint32(b[7])<<16 | uint32(b[8])<<24)
}

// count is the length of the number of parts, which is stored before the parts of a List or
// a Map.
const count = 4

// Parts returns the elements of a List, or the entries of a Map.
func (v Value) Parts() Parts {
	return Parts{unsafe.Pointer(v.head), header + count, header + v.head.size()}
}

// Elements iterates over the elements of a List, up to the first torn element.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for parts := v.Parts(); ; {
			element, ok := parts.Next()
			if !ok || !yield(element) {
				return
			}
		}
	}
}

// Entries iterates over the entries of a Map, sorted by key, up to the first torn entry.
func (v Value) Entries() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for parts := v.Parts(); ; {
			key, value, ok := parts.Entry()
			if !ok || !yield(key, value) {
				return
			}
		}
	}
}

// Bools handles a Value that is not a list of bools.
type Bools interface {
	// HasBool returns the result of Value.HasBool for such a Value.
	HasBool(v Value, content bool) bool
}

// HasBool reports whether a List has an element that is a Bool with the given content. A
// Missing element counts as false. If the value is not a List, or if an element before is
// neither a Bool nor Missing, HasBool returns the result of odd. Because HasBool calls odd
// itself, its caller need not check for that.
func (v *Value) HasBool(content bool, odd Bools) bool {
	list := v.head
	if list == nil || Kind(list[0]) != List {
		return odd.HasBool(*v, content)
	}
	const size = header + 1
	at, left := header+count, list.size()-count
	for {
		// This loop reads a run of Bools: most lists have nothing else.
		for left >= size {
			h := (*[size]byte)(unsafe.Add(unsafe.Pointer(list), at))
			if uint64(h[0])|uint64((*head)(h[:]).size())<<8 != uint64(Bool)|1<<8 {
				break
			}
			if (h[header] != 0) == content {
				return true
			}
			at += size
			left -= size
		}
		if left == 0 {
			return false
		}
		if left < header {
			return odd.HasBool(*v, content)
		}
		h := (*head)(unsafe.Add(unsafe.Pointer(list), at))
		if Kind(h[0]) != Missing || h.size() != 0 {
			return odd.HasBool(*v, content)
		}
		if !content {
			return true
		}
		at += header
		left -= header
	}
}
