package abi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// maxWidth is the maximum length of a line that holds a whole object or list.
const maxWidth = 130

// laidOut returns the set in the layout of its file: an object or list that fits into a line has
// one line.
func laidOut(s *set) ([]byte, error) {
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err := layOut(&out, bytes.TrimSpace(plain.Bytes()), 0, 0)
	out.WriteByte('\n')
	return out.Bytes(), err
}

// layOut writes compact JSON at a depth. taken is the part of the line that is not available: the
// text before and after value.
func layOut(out *bytes.Buffer, value json.RawMessage, depth, taken int) error {
	if spaced := spacedOut(value); len(spaced)+taken <= maxWidth && depth > 1 || value[0] != '{' && value[0] != '[' || len(value) == 2 {
		out.WriteString(spaced)
		return nil
	}
	parts, err := partsOf(value)
	if err != nil {
		return err
	}
	out.WriteByte(value[0])
	for i, part := range parts {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		begin := strings.Repeat(" ", depth+1) + part.name
		out.WriteString(begin)
		if err := layOut(out, part.value, depth+1, len(begin)+1); err != nil {
			return err
		}
	}
	out.WriteString("\n" + strings.Repeat(" ", depth))
	out.WriteByte(value[len(value)-1])
	return nil
}

// part is an element of a list, or a member of an object with its name.
type part struct {
	name  string
	value json.RawMessage
}

// partsOf splits compact JSON into its parts, in order.
func partsOf(value json.RawMessage) (parts []part, err error) {
	d := json.NewDecoder(bytes.NewReader(value))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	for d.More() {
		var p part
		if value[0] == '{' {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			p.name = fmt.Sprintf("%q: ", name)
		}
		if err := d.Decode(&p.value); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// spacedOut adds a space after the colons and commas between values.
func spacedOut(value json.RawMessage) string {
	out := make([]byte, 0, len(value)+len(value)/8)
	inText := false
	for i, c := range value {
		out = append(out, c)
		switch {
		case c == '"' && (i == 0 || !escaped(value[:i])):
			inText = !inText
		case !inText && (c == ':' || c == ','):
			out = append(out, ' ')
		}
	}
	return string(out)
}

// escaped reports whether before ends in an odd number of backslashes, so that the next character
// is escaped.
func escaped(before []byte) bool {
	n := len(before) - len(bytes.TrimRight(before, `\`))
	return n%2 == 1
}

func TestLayingOut(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("x", maxWidth) + `"`
	var out bytes.Buffer
	if err := layOut(&out, json.RawMessage(`{"a":{"b":[1,"c:\\\",d",{}],"e":`+long+`}}`), 0, 0); err != nil {
		t.Fatal(err)
	}
	want := "{\n \"a\": {\n  \"b\": [1, \"c:\\\\\\\",d\", {}],\n  \"e\": " + long + "\n }\n}"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if lines := strings.Split(out.String(), "\n"); !slices.Contains(lines, " }") {
		t.Errorf("%q", lines)
	}
}
