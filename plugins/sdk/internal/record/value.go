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

// Value is one value: where it lies. It has its bytes there, as many as its
// kind wants; what a list or a map is made of may still be torn. The zero Value
// is Missing.
//
// It is one pointer, because Go's WebAssembly copies whatever is larger through
// memory, word by word. Its accessors must only be called on a value of their
// kind.
type Value struct{ head *head }

// head is what stands before a value's bytes: its kind and their number.
type head [header]byte

// header is the length of a head.
const header = 5

// size is how many bytes follow the head.
func (h *head) size() int {
	return int(uint32(h[1]) | uint32(h[2])<<8 | uint32(h[3])<<16 | uint32(h[4])<<24)
}

// fits reports whether a value of the head's kind can have n bytes. A kind of a
// later version can have any: code that reads the value reports it as unknown,
// all other code skips it.
func (h *head) fits(n int) bool { return h.spare(n) >= 0 }

// spare is how many bytes more than n it could have; negative if n do not fit.
func (h *head) spare(n int) int64 {
	s := &sizes[h[0]]
	return int64(s.more) - int64(uint32(n)-s.least)
}

// sizes are, by kind, how many bytes a value has at least, and how many more it
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

// data is where these bytes begin. There may be none.
func (h *head) data() unsafe.Pointer { return unsafe.Add(unsafe.Pointer(h), header) }

// Kind is the value's type.
func (v Value) Kind() Kind {
	if v.head == nil {
		return Missing
	}
	return Kind(v.head[0])
}

// None reports whether this is the zero Value.
func (v Value) None() bool { return v.head == nil }

// Is reports whether the value is of a kind other than Missing.
func (v Value) Is(k Kind) bool { return v.head != nil && Kind(v.head[0]) == k }

// Exists reports whether the value is another than Missing.
func (v *Value) Exists() bool { return v.head != nil && Kind(v.head[0]) != Missing }

// Size is how many bytes the value's content has.
func (v Value) Size() int { return v.head.size() }

// IsText reports whether a value of n bytes is a String, or Missing.
func (v Value) IsText(n int) bool {
	return Kind(v.head[0]) == String || Kind(v.head[0]) == Missing && n == 0
}

// Text is the content of a String or JSON value.
func (v Value) Text() string { return v.TextOf(v.head.size()) }

// TextOf is Text of a value of n bytes, as Size says.
func (v Value) TextOf(n int) string {
	if n > 0 {
		return unsafe.String((*byte)(v.head.data()), n)
	}
	return ""
}

// Bool is the content of a Bool value.
func (v Value) Bool() bool { return (*[header + 1]byte)(unsafe.Pointer(v.head))[header] != 0 }

// Int is the content of an Int value.
func (v Value) Int() int64 { return int64(v.Bits()) }

// Bits is the content of a Float value, for math.Float64frombits.
func (v Value) Bits() uint64 {
	b := (*[8]byte)(v.head.data())
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// Len is the number of elements of a List, or of entries of a Map.
func (v Value) Len() int {
	b := (*[header + count]byte)(unsafe.Pointer(v.head))
	return int(uint32(b[5]) | uint32(b[6])<<8 | uint32(b[7])<<16 | uint32(b[8])<<24)
}

// count is the length of what stands before the parts of a List or a Map.
const count = 4

// Parts are the elements of a List, or the entries of a Map.
func (v Value) Parts() Parts {
	return Parts{unsafe.Pointer(v.head), header + count, header + v.head.size()}
}

// Elements are those of a List, up to the first that is torn.
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

// Entries are those of a Map, sorted by key, up to the first that is torn.
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

// Bools knows what to do about a Value that is no list of bools.
type Bools interface {
	// HasBool is what Value.HasBool returns then.
	HasBool(v Value, content bool) bool
}

// HasBool reports whether a List has an element that is a Bool of the given
// content; a Missing one counts as false. If the value is no List, or something
// else comes first, odd says. That it calls it is a call less for the others.
func (v *Value) HasBool(content bool, odd Bools) bool {
	list := v.head
	if list == nil || Kind(list[0]) != List {
		return odd.HasBool(*v, content)
	}
	const size = header + 1
	at, left := header+count, list.size()-count
	for {
		// Bools, which mostly follow each other.
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
