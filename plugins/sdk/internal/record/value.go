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

// Torn is what Next gives where a list is not made of whole values.
const Torn Kind = 255

var kindNames = [...]string{
	"missing", "a string", "a bool", "an integer", "a float", "a list", "a map of strings", "a JSON value",
}

// String names the kind with its article.
func (k Kind) String() string {
	switch {
	case int(k) < len(kindNames):
		return kindNames[k]
	case k == Torn:
		return "torn"
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

// Bits is the content of a Float value, for math.Float64frombits.
func (v Value) Bits() uint64 { return u64(v.data) }

// Len is the number of elements of a List, or of entries of a Map.
func (v Value) Len() int { return int(u32(v.data)) }

// Parts are the elements of a List, or the entries of a Map.
func (v Value) Parts() Parts { return Parts{v.data[4:]} }

// Elements are those of a List.
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

// Entries are those of a Map, sorted by key.
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

// Parts goes through what a List or a Map is made of.
type Parts struct{ rest string }

// Next gives the next element of a List, or false after the last. An element
// that is not whole is Torn, and the last. It is written out, not made of
// smaller functions: a call costs a guest more than what is done here.
func (p *Parts) Next() (element Value, ok bool) {
	s := p.rest
	if len(s) < header {
		return p.last()
	}
	k, n := Kind(s[0]), header+(int(s[1])|int(s[2])<<8|int(s[3])<<16|int(s[4])<<24)
	if n < header || n > len(s) || k != String && !k.fits(n-header) {
		return p.last()
	}
	p.rest = s[n:]
	return Value{k, s[header:n]}, true
}

// last is what comes after the last whole element.
func (p *Parts) last() (element Value, ok bool) {
	if p.rest == "" {
		return Value{}, false
	}
	p.rest = ""
	return Value{Kind: Torn}, true
}

// Entry gives the next entry of a Map, or false after the last one that is
// whole.
func (p *Parts) Entry() (key, value string, ok bool) {
	if key, p.rest, ok = cutText(p.rest); ok {
		value, p.rest, ok = cutText(p.rest)
	}
	return key, value, ok
}

// Whole reports whether nothing is left that Entry cannot give.
func (p *Parts) Whole() bool { return p.rest == "" }
