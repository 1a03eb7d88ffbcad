package record

import "iter"

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

// Value is one value. Its accessors must only be called on a value that Parse
// or ParseValue gave, and on its parts, and only the one of its kind.
type Value struct {
	Kind Kind
	// data is the value's bytes without its header.
	data string
}

// Text is the content of a String or JSON value.
func (v Value) Text() string { return v.data }

// Bool is the content of a Bool value.
func (v Value) Bool() bool { return v.data[0] != 0 }

// Int is the content of an Int value.
func (v Value) Int() int64 { return int64(u64(v.data)) }

// Len is the number of elements of a List, or of entries of a Map.
func (v Value) Len() int { return int(u32(v.data)) }

// Elements are those of a List.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for rest := v.data[4:]; rest != ""; {
			var element Value
			element, rest, _ = cutValue(rest)
			if !yield(element) {
				return
			}
		}
	}
}

// Entries are those of a Map, sorted by key.
func (v Value) Entries() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for rest := v.data[4:]; rest != ""; {
			var key, value string
			key, rest, _ = cutText(rest)
			value, rest, _ = cutText(rest)
			if !yield(key, value) {
				return
			}
		}
	}
}
