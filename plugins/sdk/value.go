package sdk

import (
	"iter"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
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

// as reports whether the value is of a kind.
func (v Value) as(k Kind) bool {
	switch v.of.Kind {
	case k:
		return true
	case KindMissing:
		return false
	}
	v.misread(k)
	return false
}

func (v Value) misread(k Kind) {
	guest.Fault("field " + v.field.path + " is read as " + k.String() + ", but it is " + v.of.Kind.String())
}

// Kind says what the value is.
func (v Value) Kind() Kind { return v.of.Kind }

// Exists reports whether the pod has the field. A bool that is no pointer in
// the API always exists, an empty string or list never does.
func (v Value) Exists() bool { return v.of.Kind != KindMissing }

// String is the content of a string. Quantities ("100m"), times (RFC 3339) and
// names of ports are strings too.
func (v Value) String() string {
	if v.as(KindString) {
		return v.of.Text()
	}
	return ""
}

// Int is the content of an integer.
func (v Value) Int() int64 {
	if v.as(KindInt) {
		return v.of.Int()
	}
	return 0
}

// Bool is the content of a bool.
func (v Value) Bool() bool { return v.as(KindBool) && v.of.Bool() }

// Len is the number of elements of a list or of entries of a map.
func (v Value) Len() int {
	if v.of.Kind == KindMap || v.as(KindList) {
		return v.of.Len()
	}
	return 0
}

// JSON is the JSON text of a value of KindJSON, in memory of the policy's own.
func (v Value) JSON() []byte {
	if v.as(KindJSON) {
		return []byte(v.of.Text())
	}
	return nil
}

// parts are those of a value of kind k, which must be KindList or KindMap.
func (v Value) parts(k Kind) record.Parts {
	if v.as(k) {
		return v.of.Parts()
	}
	return record.Parts{}
}

// Elements are those of a list. Where the path has a [*], an element whose
// field is absent is a missing value, so that lists of one [*] align.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for parts := v.parts(KindList); ; {
			element, ok := parts.Next()
			if !ok || !yield(Value{element, v.field}) {
				return
			}
		}
	}
}

// At is an element of a list, counted from 0; missing where the list is
// shorter. It goes through those before it.
func (v Value) At(i int) Value {
	for parts := v.parts(KindList); i >= 0; i-- {
		if element, ok := parts.Next(); !ok {
			break
		} else if i == 0 {
			return Value{element, v.field}
		}
	}
	return Value{}
}

// Strings are the elements of a list of strings, missing ones left out.
func (v Value) Strings() iter.Seq[string] {
	return func(yield func(string) bool) {
		for parts := v.parts(KindList); ; {
			element, ok := parts.Next()
			if !ok || (Value{element, v.field}).as(KindString) && !yield(element.Text()) {
				return
			}
		}
	}
}

// Map gives the entries of a map of strings, sorted by key.
func (v Value) Map() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for parts := v.parts(KindMap); ; {
			key, value, ok := parts.Entry()
			if !ok || !yield(key, value) {
				return
			}
		}
	}
}

// Lookup is the entry of a map of strings under a key.
func (v Value) Lookup(key string) (value string, ok bool) {
	for parts := v.parts(KindMap); ; {
		k, value, ok := parts.Entry()
		if !ok || k == key {
			return value, ok
		}
	}
}
