package printable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v2"
)

// WriteYAML writes v as YAML. A character without a shape becomes an escape in a double-quoted
// text.
func WriteYAML(w io.Writer, v any) error {
	data, err := normalized(v)
	var values any
	if err == nil {
		// A YAML parser would limit the keys of objects to 1024 characters.
		values, err = valuesOf(coded(data))
	}
	if err == nil {
		data, err = yaml.Marshal(numbered(values))
	}
	if err != nil {
		return fmt.Errorf("cannot print as yaml: %w", err)
	}
	_, err = w.Write(decoded(data))
	return err
}

// normalized returns v as JSON without escapes that YAML lacks: a raw message may contain half a
// surrogate pair.
func normalized(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	values, err := valuesOf(data)
	if err != nil {
		return nil, err
	}
	return json.Marshal(values)
}

// valuesOf decodes JSON, with numbers as texts.
func valuesOf(data []byte) (values any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&values)
	return values, err
}

// numbered returns values in which texts of numbers are numbers again.
func numbered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = numbered(v[key])
		}
	case []any:
		for i := range v {
			v[i] = numbered(v[i])
		}
	case json.Number:
		text := v.String()
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return n
		}
		if n, err := v.Float64(); err == nil {
			return n
		}
	}
	return v
}

// The library cannot read C1 controls, and writes characters that change the direction of writing
// unescaped. So a character without a shape is encoded for the library: as noncharacter, followed
// by four digits of the private use area. noncharacter makes the library use double quotes and is
// escaped there; the digits are written unchanged. No other such characters reach the library,
// because they have no shape themselves. The library itself escapes characters beyond the basic
// plane.
const (
	noncharacter = `\uFFFF`
	digitZero    = '\uE000'
)

var code = regexp.MustCompile(`\\uFFFF([\x{E000}-\x{E00F}]{4})`)

// coded returns JSON in which characters without a shape are encoded.
func coded(data []byte) []byte {
	return eachWithoutShape(unescaped(data), func(b []byte, r rune) []byte {
		if r > 0xffff {
			return utf8.AppendRune(b, r)
		}
		b = append(b, noncharacter...)
		for shift := 12; shift >= 0; shift -= 4 {
			b = utf8.AppendRune(b, digitZero+r>>shift&0xf)
		}
		return b
	})
}

// decoded returns YAML in which the encoded characters are escapes.
func decoded(data []byte) []byte {
	return code.ReplaceAllFunc(data, func(coded []byte) []byte {
		var r rune
		for _, digit := range string(coded[len(noncharacter):]) {
			r = r<<4 | (digit - digitZero)
		}
		return appendUnicode(nil, r)
	})
}

// unescaped returns JSON in which Unicode's two line ends, which package json escapes, stand
// unescaped.
func unescaped(data []byte) []byte {
	b := make([]byte, 0, len(data))
	for len(data) > 0 {
		n := 1
		if data[0] == '\\' {
			n = 2
			if len(data) >= 6 && (string(data[:6]) == `\u2028` || string(data[:6]) == `\u2029`) {
				b = utf8.AppendRune(b, '\u2020'+rune(data[5]-'0'))
				data = data[6:]
				continue
			}
		}
		b, data = append(b, data[:n]...), data[n:]
	}
	return b
}
