package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlOfJSON rewrites a JSON text as equivalent YAML, on the same lines. It returns any other text
// unchanged. JSON is nearly YAML. The differences are: the escapes of a slash and of characters
// beyond the basic plane, some characters that JSON allows unescaped but YAML does not allow or
// treats as a line end, and a colon on another line than its key. A number that YAML would read as
// a string is a fault.
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

// endOfString returns the end of the string at the beginning of the valid JSON text.
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

// appendString appends a JSON string, with its quotes, as a YAML string.
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

// escaped reads one escape. r is negative for escapes that YAML has, too.
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

// appendRune appends a character of a string, as an escape if YAML does not allow it unescaped.
func appendRune(out []byte, r rune) []byte {
	if r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r == 0xfffe || r == 0xffff {
		return fmt.Appendf(out, `\u%04x`, r)
	}
	return utf8.AppendRune(out, r)
}

// at returns the line in the file of the field at the path, or of its nearest parent that exists.
// The empty path is the document. Paths have the form of fault messages:
// spec.containers[0].resources.limits[cpu].
func (t tree) at(path string) int {
	line, _ := t.walk(path)
	return t.above + line
}

// maxShown is the number of bytes of a value that are shown.
const maxShown = 64

// written returns the number at the path as it is written in the text. The text can be more exact
// than the value, because great numbers are rounded when they are read.
func (t tree) written(path string, n json.Number) string {
	text := n.String()
	if _, node := t.walk(path); node != nil && node.Kind == yaml.ScalarNode {
		text = node.Value
	}
	if len(text) > maxShown {
		return text[:maxShown] + "…"
	}
	return text
}

// walk returns the line of the field at the path, or of its nearest parent that exists, and the
// field's value, nil if the field does not exist.
func (t tree) walk(path string) (line int, value *yaml.Node) {
	n, line := t.root, t.root.Line
	path = join(t.path, path)
	for path != "" {
		var step string
		step, path = nextStep(path)
		mark, next := find(n, step)
		if next == nil {
			return line, nil
		}
		n, line = next, mark.Line
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return line, n
}

// nextStep returns the first step of a path and the rest. A step is a name, or the text in
// brackets, which may contain dots.
func nextStep(path string) (step, rest string) {
	if inner, ok := strings.CutPrefix(path, "["); ok {
		step, rest, _ = strings.Cut(inner, "]")
	} else if end := strings.IndexAny(path, ".["); end >= 0 {
		step, rest = path[:end], path[end:]
	} else {
		return path, ""
	}
	return step, strings.TrimPrefix(rest, ".")
}

// find returns the member of a mapping, or the item of a list, that the step names, and the node
// that has its line.
func find(n *yaml.Node, step string) (mark, value *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.SequenceNode:
		i, err := strconv.Atoi(step)
		if err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i], n.Content[i+1]
			}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Tag != "!!merge" {
				continue
			}
			merged := n.Content[i+1]
			if mark, value = find(merged, step); value != nil {
				return mark, value
			}
			if merged.Kind == yaml.SequenceNode {
				for _, one := range merged.Content {
					if mark, value = find(one, step); value != nil {
						return mark, value
					}
				}
			}
		}
	}
	return nil, nil
}
