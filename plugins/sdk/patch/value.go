package patch

import (
	"unicode/utf8"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
)

// Value is a value that an operation writes into a document. The zero Value is null.
type Value struct{ json []byte }

// String returns a string.
func String(s string) Value { return Value{appendString(nil, s)} }

// Int returns an integer.
func Int(n int64) Value {
	var digits [guest.MaxDigits]byte
	return Value{append([]byte(nil), guest.Digits(&digits, n)...)}
}

// Bool returns a bool.
func Bool(b bool) Value {
	if b {
		return Value{[]byte("true")}
	}
	return Value{[]byte("false")}
}

// List returns a list of values.
func List(values ...Value) Value {
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(b, v)
	}
	return Value{append(b, ']')}
}

// Strings returns a list of strings.
func Strings(values ...string) Value {
	list := make([]Value, len(values))
	for i, s := range values {
		list[i] = String(s)
	}
	return List(list...)
}

// Member is a member of an Object.
type Member struct {
	Name  string
	Value Value
}

// Object returns an object with the members in this order. No name may occur twice.
func Object(members ...Member) Value {
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendValue(append(appendString(b, m.Name), ':'), m.Value)
	}
	return Value{append(b, '}')}
}

// Raw returns a value from JSON text, such as sdk.Value.JSON returns. If the text is not
// JSON, the call fails.
func Raw(json []byte) Value { return Value{append([]byte(nil), json...)} }

func appendValue(b []byte, v Value) []byte {
	if len(v.json) == 0 {
		return append(b, "null"...)
	}
	return append(b, v.json...)
}

const hex = "0123456789abcdef"

// appendString appends s as JSON. What is not valid UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ' || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
