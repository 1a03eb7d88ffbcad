package sdk

import (
	"iter"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

// Kind is what a value is.
type Kind = record.Kind

// The kinds of values.
const (
	// KindMissing: the pod does not have the field.
	KindMissing = record.Missing
	KindString  = record.String
	KindBool    = record.Bool
	KindInt     = record.Int
	KindList    = record.List
	// KindMap is a map of strings.
	KindMap = record.Map
	// KindJSON is anything else, such as a whole container.
	KindJSON = record.JSON
)

// Value is a field of a pod, or an element of one. The accessors of kinds it
// does not have make the call fail, except that a missing value reads as
// empty, zero or false.
type Value struct {
	of    record.Value
	field *Field
}

// misread notes that the value was read as what it is not. A missing one reads
// as everything.
//
//go:noinline
func (v Value) misread(k Kind) {
	if is := v.of.Kind(); is != KindMissing {
		guest.Fault("field " + v.field.path + " is read as " + k.String() + ", but it is " + is.String())
	}
}

// Kind says what the value is.
func (v Value) Kind() Kind { return v.of.Kind() }

// Exists reports whether the pod has the field. A bool that is no pointer in
// the API always exists, an empty string or list never does.
func (v Value) Exists() bool { return v.of.Kind() != KindMissing }

// String is the content of a string. Quantities ("100m"), times (RFC 3339) and
// names of ports are strings too.
func (v Value) String() string {
	if v.of.Is(KindString) {
		return v.of.Text()
	}
	v.misread(KindString)
	return ""
}

// Int is the content of an integer.
func (v Value) Int() int64 {
	if v.of.Is(KindInt) {
		return v.of.Int()
	}
	v.misread(KindInt)
	return 0
}

// Bool is the content of a bool.
func (v Value) Bool() bool {
	if v.of.Is(KindBool) {
		return v.of.Bool()
	}
	v.misread(KindBool)
	return false
}

// Len is the number of elements of a list or of entries of a map.
func (v Value) Len() int {
	if v.of.Is(KindMap) || v.of.Is(KindList) {
		return v.of.Len()
	}
	v.misread(KindList)
	return 0
}

// JSON is the JSON text of a value of KindJSON, in memory of the policy's own.
func (v Value) JSON() []byte {
	if v.of.Is(KindJSON) {
		return []byte(v.of.Text())
	}
	v.misread(KindJSON)
	return nil
}

// parts are those of a value of kind k, which must be KindList or KindMap.
func (v Value) parts(k Kind) record.Parts {
	if v.of.Is(k) {
		return v.of.Parts()
	}
	v.misread(k)
	return record.Parts{}
}

// left says what is wrong with the rest of parts, of which something is left:
// it is torn, or no string where strings are wanted.
//
//go:noinline
func (f *Field) left(parts record.Parts) {
	if element, ok := parts.Next(); ok {
		Value{element, f}.misread(KindString)
	} else {
		guest.Fault("field " + f.path + ": the agent sent a torn value")
	}
}

// Elements are those of a list. Where the path has a [*], an element whose
// field is absent is a missing value, so that lists of one [*] align.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		parts := v.parts(KindList)
		for {
			element, ok := parts.Next()
			if !ok {
				break
			}
			if !yield(Value{element, v.field}) {
				return
			}
		}
		if parts.More() {
			v.field.left(parts)
		}
	}
}

// At is an element of a list, counted from 0; missing where the list is
// shorter. It goes through those before it.
func (v Value) At(i int) Value {
	for parts := v.parts(KindList); i >= 0; i-- {
		element, ok := parts.Next()
		if !ok {
			if parts.More() {
				v.field.left(parts)
			}
			break
		}
		if i == 0 {
			return Value{element, v.field}
		}
	}
	return Value{}
}

// AnyTrue reports whether some element of a list of bools is true.
func (v Value) AnyTrue() bool { return v.hasBool(true) }

// AllTrue reports whether no element of a list of bools is false or missing.
// Those of an empty list are all true.
func (v Value) AllTrue() bool { return !v.hasBool(false) }

func (v Value) hasBool(content bool) bool {
	return !v.of.None() && v.of.HasBool(content, (*bools)(v.field))
}

// bools is a field that is asked for a bool of a list.
type bools Field

// HasBool implements record.Bools.
func (b *bools) HasBool(v record.Value, content bool) bool {
	f := (*Field)(b)
	if v.None() {
		return f.Value().hasBool(content)
	}
	for element := range (Value{v, f}).Elements() {
		element.Bool() // one of them is none
	}
	return false
}

// Strings are the elements of a list of strings, missing ones left out.
func (v Value) Strings() iter.Seq[string] {
	return func(yield func(string) bool) {
		parts := v.parts(KindList)
		for { // as in AllStrings
			element, left := parts.Peek()
			if left < 0 {
				break
			}
			n := element.Size()
			if n > left || !element.IsText(n) {
				break
			}
			parts.Skip(n)
			if element.Is(KindString) && !yield(element.TextOf(n)) {
				return
			}
		}
		if parts.More() {
			v.field.left(parts)
		}
	}
}

// AllStrings are the elements of a list of strings, a missing one as an empty
// string: Strings for what every element must have.
func (v Value) AllStrings() iter.Seq[string] {
	return func(yield func(string) bool) {
		parts := v.parts(KindList)
		for {
			// It has no function of its own in package record: this becomes part
			// of the policy, and a call costs it more than what is done here.
			element, left := parts.Peek()
			if left < 0 {
				break
			}
			n := element.Size()
			if n > left || !element.IsText(n) {
				break
			}
			parts.Skip(n)
			if !yield(element.TextOf(n)) {
				return
			}
		}
		if parts.More() {
			v.field.left(parts)
		}
	}
}

// Map returns the entries of a map of strings, sorted by key.
func (v Value) Map() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		parts := v.parts(KindMap)
		for {
			key, value, ok := parts.Entry()
			if !ok {
				break
			}
			if !yield(key, value) {
				return
			}
		}
		if parts.More() {
			v.field.left(parts)
		}
	}
}

// Lookup is the entry of a map of strings under a key.
func (v Value) Lookup(key string) (value string, ok bool) {
	parts := v.parts(KindMap)
	for {
		k, value, ok := parts.Entry()
		if !ok {
			if parts.More() {
				v.field.left(parts)
			}
			return "", false
		}
		if str.Equal(k, key) {
			return value, true
		}
	}
}
