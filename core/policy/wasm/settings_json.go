package wasm

import (
	"bytes"
	"math"
	"strconv"
)

// appendSetting appends a value of settings as JSON. Integers and floats remain
// distinguishable, as in TOML: a float has a point or an exponent.
func appendSetting(out []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return appendQuoted(out, v)
	case bool:
		return strconv.AppendBool(out, v)
	case int64:
		return strconv.AppendInt(out, v, 10)
	case float64:
		return appendFloat(out, v)
	case []any:
		out = append(out, '[')
		for i, element := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendSetting(out, element)
		}
		return append(out, ']')
	case *settingTable:
		out = append(out, '{')
		for i, e := range v.entries {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(appendQuoted(out, e.key), ':')
			out = appendSetting(out, e.value)
		}
		return append(out, '}')
	}
	return out
}

// appendFloat appends a finite float in the fewest digits that parse to the same
// float.
func appendFloat(out []byte, f float64) []byte {
	const smallest, largest = 1e-6, 1e21 // of the numbers without an exponent
	format := byte('f')
	if size := math.Abs(f); size != 0 && (size < smallest || size >= largest) {
		format = 'e'
	}
	begin := len(out)
	out = strconv.AppendFloat(out, f, format, -1, 64)
	if !bytes.ContainsAny(out[begin:], ".e") {
		out = append(out, ".0"...)
	}
	return out
}

// appendQuoted appends a text, which is valid UTF-8, as a JSON string.
func appendQuoted(out []byte, text string) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ':
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}
