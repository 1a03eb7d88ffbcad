package sdk

import (
	"iter"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

// Kind is the type of a value.
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
	// KindJSON is any other value, such as a whole container.
	KindJSON = record.JSON
)

// Value is the value of a field of a pod, or an element of such a value. If an accessor for
// another kind is called, the call of the plugin fails. But on a missing value all
// accessors return empty, zero or false.
type Value struct {
	of    record.Value
	field *Field
}

// misread records that the value was read as another kind than its own. It does nothing for
// a missing value, which may be read as any kind.
//
//go:noinline
func (v Value) misread(k Kind) {
	if is := v.of.Kind(); is != KindMissing {
		guest.Fault("field " + v.field.path + " is read as " + k.String() + ", but it is " + is.String())
	}
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.of.Kind() }

// Exists reports whether the pod has the field. If the API declares a bool without a
// pointer, the bool always exists. An empty string or list never exists.
func (v Value) Exists() bool { return v.of.Kind() != KindMissing }

// String returns the content of a string. Quantities ("100m"), times (RFC 3339) and names
// of ports are strings, too.
func (v Value) String() string {
	if v.of.Is(KindString) {
		return v.of.Text()
	}
	v.misread(KindString)
	return ""
}

// Int returns the content of an integer.
func (v Value) Int() int64 {
	if v.of.Is(KindInt) {
		return v.of.Int()
	}
	v.misread(KindInt)
	return 0
}

// Bool returns the content of a bool.
func (v Value) Bool() bool {
	if v.of.Is(KindBool) {
		return v.of.Bool()
	}
	v.misread(KindBool)
	return false
}

// Len returns the number of elements of a list or of entries of a map.
func (v Value) Len() int {
	if v.of.Is(KindMap) || v.of.Is(KindList) {
		return v.of.Len()
	}
	v.misread(KindList)
	return 0
}

// JSON returns the JSON text of a value of KindJSON. The text is a copy, which the policy
// may change.
func (v Value) JSON() []byte {
	if v.of.Is(KindJSON) {
		return []byte(v.of.Text())
	}
	v.misread(KindJSON)
	return nil
}

// parts returns the elements or entries of a value. k is KindList or KindMap.
func (v Value) parts(k Kind) record.Parts {
	if v.of.Is(k) {
		return v.of.Parts()
	}
	v.misread(k)
	return record.Parts{}
}

// left records why reading parts stopped before their end: the next element is torn, or it
// is not a string although strings were read.
//
//go:noinline
func (f *Field) left(parts record.Parts) {
	if element, ok := parts.Next(); ok {
		Value{element, f}.misread(KindString)
	} else {
		guest.Fault("field " + f.path + ": the agent sent a torn value")
	}
}

// Elements iterates over the elements of a list. If the path has a [*], an element without
// the field is a missing value. So the lists of two paths with the same [*] have the same
// length.
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

// At returns element i of a list, from 0. It returns a missing value if the list is
// shorter. Its time grows with i, because it passes over all elements before.
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

// AnyTrue reports whether at least one element of a list of bools is true.
func (v Value) AnyTrue() bool { return v.hasBool(true) }

// AllTrue reports whether every element of a list of bools is true. A missing element is
// not true. For an empty list, AllTrue returns true.
func (v Value) AllTrue() bool { return !v.hasBool(false) }

func (v Value) hasBool(content bool) bool {
	return !v.of.None() && v.of.HasBool(content, (*bools)(v.field))
}

// bools is a field, as an implementation of record.Bools.
type bools Field

// HasBool implements record.Bools.
func (b *bools) HasBool(v record.Value, content bool) bool {
	f := (*Field)(b)
	if v.None() {
		return f.Value().hasBool(content)
	}
	for element := range (Value{v, f}).Elements() {
		element.Bool() // records an element that is not a bool
	}
	return false
}

// Strings iterates over the elements of a list of strings, without missing elements.
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

// AllStrings iterates over all elements of a list of strings. A missing element is an empty
// string. Use it instead of Strings if every element must have the field.
func (v Value) AllStrings() iter.Seq[string] {
	return func(yield func(string) bool) {
		parts := v.parts(KindList)
		for {
			// This code is not a function of package record. The compiler inlines it into
			// the policy, where a function call would cost more than the code itself.
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

// Lookup returns the value of a key in a map of strings.
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
