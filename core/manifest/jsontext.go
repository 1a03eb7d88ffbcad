package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// yamlOfJSON rewrites a JSON text as the YAML that says the same, on the same
// lines; it returns any other text as it is. JSON is nearly YAML. What is
// not: the escapes of a slash and of characters beyond the basic plane, some
// characters that JSON takes as they are and YAML does not or takes for the
// end of a line, and a colon on another line than its key. A number that YAML
// would take for a word is a fault.
func yamlOfJSON(c chunk) ([]byte, *fault) {
	text := c.text
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' || !utf8.Valid(text) || !json.Valid(text) {
		return text, nil
	}
	out := make([]byte, 0, len(text)+len(text)/16)
	for len(text) > 0 {
		if text[0] == '-' || text[0] >= '0' && text[0] <= '9' {
			number := text[:len(text)-len(bytes.TrimLeft(text, "+-.0123456789eE"))]
			if _, err := strconv.ParseFloat(string(number), 64); err != nil {
				line := c.above + 1 + bytes.Count(c.text[:len(c.text)-len(text)], []byte{'\n'})
				return nil, &fault{line, fmt.Errorf("the number %.64s is too great", number)}
			}
			out, text = append(out, number...), text[len(number):]
			continue
		}
		if text[0] == '\t' {
			out, text = append(out, ' '), text[1:]
			continue
		}
		if text[0] != '"' {
			out, text = append(out, text[0]), text[1:]
			continue
		}
		end := endOfString(text)
		out = appendString(out, text[:end])
		space := len(text[end:]) - len(bytes.TrimLeft(text[end:], " \t\r\n"))
		if rest := text[end+space:]; len(rest) > 0 && rest[0] == ':' {
			out, end = append(out, ':'), end+space+1
			out = append(out, text[end-1-space:end-1]...)
		}
		text = text[end:]
	}
	return out, nil
}

// endOfString is where the string ends that the valid JSON text begins with.
func endOfString(text []byte) int {
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// appendString writes a string of JSON, with its quotes, as one of YAML.
func appendString(out, text []byte) []byte {
	for len(text) > 0 {
		if text[0] == '\\' {
			r, length := escaped(text)
			switch {
			case r >= 0:
				out = appendRune(out, r)
			default:
				out = append(out, text[:length]...)
			}
			text = text[length:]
			continue
		}
		r, length := utf8.DecodeRune(text)
		out, text = appendRune(out, r), text[length:]
	}
	return out
}

// escaped reads one escape. r is negative for those that YAML has too.
func escaped(text []byte) (r rune, length int) {
	if text[1] == '/' {
		return '/', 2
	}
	if text[1] != 'u' {
		return -1, 2
	}
	if r = hex4(text[2:6]); !utf16.IsSurrogate(r) {
		return -1, 6
	}
	if bytes.HasPrefix(text[6:], []byte(`\u`)) {
		if pair := utf16.DecodeRune(r, hex4(text[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(text []byte) rune {
	var r rune
	for _, b := range text {
		switch {
		case b >= 'a':
			b -= 'a' - 10
		case b >= 'A':
			b -= 'A' - 10
		default:
			b -= '0'
		}
		r = r<<4 | rune(b)
	}
	return r
}

// appendRune writes a character of a string, as an escape where YAML does not
// take it for itself.
func appendRune(out []byte, r rune) []byte {
	if r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == 0xfffe || r == 0xffff {
		return fmt.Appendf(out, `\u%04x`, r)
	}
	return utf8.AppendRune(out, r)
}
