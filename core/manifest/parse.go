package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/core/internal/charset"
)

// tree is a parsed document: its values as JSON, with sorted keys and aliases resolved, and the
// YAML nodes that have the lines.
type tree struct {
	json []byte
	root *yaml.Node
	// above counts the lines of the file before the document.
	above int
	// path is the prefix of the paths of faults: "items[2]" in a list.
	path string
	// size is the number of bytes of the values after aliases are resolved. items is the number of
	// items of a list, 0 for any other document.
	size, items int
}

// itemsOf returns the length of the list under the key "items" of a document.
func itemsOf(root *yaml.Node) int {
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		value := root.Content[i+1]
		if value.Kind == yaml.AliasNode {
			value = value.Alias
		}
		if root.Content[i].Value == "items" && value.Kind == yaml.SequenceNode {
			return len(value.Content)
		}
	}
	return 0
}

// maxMarks limits the memory of a parser: a document cannot have more nodes than characters that
// can begin a node.
const maxMarks = 1 << 19

var errSecond = errors.New("a second document begins without a line \"---\" before it")

// parse parses the text of one document. The values are read in the same way as in Kubernetes; the
// lines come from a second reading. Duplicate keys are faults.
func parse(c chunk) (tree, *fault) {
	text, f := yamlOfJSON(c)
	if f != nil {
		return tree{}, f
	}
	c.text = text
	if f := legible(c); f != nil {
		return tree{}, f
	}
	if line := markedLine(c.text); line > 0 {
		return tree{}, &fault{c.above + line, errMarked}
	}
	var node yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(c.text))
	if err := dec.Decode(&node); err != nil {
		return tree{}, syntaxFault(c, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return tree{}, syntaxFault(c, cmp.Or(err, errSecond))
	}
	t := tree{root: node.Content[0], above: c.above, items: itemsOf(node.Content[0])}
	if t.size, f = bound(t.root, c.above); f != nil {
		return tree{}, f
	}
	if t.root.Kind != yaml.MappingNode {
		return tree{}, &fault{c.above + t.root.Line, errors.New("not an object; a manifest begins with apiVersion and kind")}
	}
	var err error
	if t.json, err = sigsyaml.YAMLToJSON(c.text); err != nil {
		return tree{}, syntaxFault(c, err)
	}
	return t, nil
}

// legible returns a fault for text that no YAML parser should read.
func legible(c chunk) *fault {
	line, marks := c.above+1, 0
	for i, b := range c.text {
		switch {
		case b == '\n':
			line++
			marks++
		// The last three are the last bytes of the UTF-8 line breaks of YAML 1.1.
		case b == ',' || b == ':' || b == '\r' || b == 0x85 || b == 0xa8 || b == 0xa9:
			marks++
		case b < ' ' && b != '\t' || b == 0x7f:
			return &fault{line, cmp.Or(foreign(c.text, i), fmt.Errorf("control character %#02x at byte %d", b, i))}
		}
	}
	if marks > maxMarks {
		return &fault{c.above + 1, fmt.Errorf("more than %d values in one document; split it", maxMarks)}
	}
	if !utf8.Valid(c.text) {
		good := c.text[:len(c.text)-len(bytes.TrimLeftFunc(c.text, func(r rune) bool { return r != utf8.RuneError }))]
		return &fault{c.above + 1 + bytes.Count(good, []byte{'\n'}), cmp.Or(foreign(c.text, len(good)), errors.New("not valid UTF-8"))}
	}
	return nil
}

// foreign returns an error that names the encoding of the line with the invalid byte at the given
// position, nil if the encoding is not known.
func foreign(text []byte, at int) error {
	if name := charset.Of(text[bytes.LastIndexByte(text[:at], '\n')+1:]); name != "" {
		return fmt.Errorf("from here on the text is in %s; save the whole file as UTF-8", name)
	}
	return nil
}

var errMarked = errors.New("a byte order mark (EF BB BF), which editors do not show, begins this line; " +
	"save the file without it, or begin a new document with a line \"---\" before it")

// markedLine returns the first line that begins with a byte order mark, 0 if there is none. Within
// quotes a byte order mark may be in a line, but not at its beginning.
func markedLine(text []byte) int {
	mark := []byte(charset.ByteOrderMark)
	if bytes.HasPrefix(text, mark) {
		return 1
	}
	if at := bytes.Index(text, append([]byte{'\n'}, mark...)); at >= 0 {
		return bytes.Count(text[:at], []byte{'\n'}) + 2
	}
	return 0
}

var (
	lineNumber    = regexp.MustCompile(`line (\d+): `)
	directive     = regexp.MustCompile(`(?m)^%YAML[ \t]+(\S{1,16})`)
	unknownAnchor = regexp.MustCompile(`unknown anchor '([^']*)'`)
)

// syntaxFault determines the line of an error of the YAML parsers. Their messages differ: they name
// no line for the first line, and the line before where a token was expected.
func syntaxFault(c chunk, err error) *fault {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if m := lineNumber.FindStringSubmatchIndex(message); m != nil {
		line, _ = strconv.Atoi(message[m[2]:m[3]])
		message = message[:m[0]] + message[m[1]:]
		if strings.Contains(message, "did not find expected") {
			line++
		}
	} else if m := unknownAnchor.FindStringSubmatch(message); m != nil {
		if at := bytes.Index(c.text, []byte("*"+m[1])); at >= 0 {
			line += bytes.Count(c.text[:at], []byte{'\n'})
		}
		message = "an alias (*) names no anchor; put a value that begins with * in quotes" // the name may be a secret
	}
	if strings.Contains(message, "cannot start any token") || strings.Contains(message, "a tab character") {
		if tab, what := tabbedLine(c.text, line); tab > 0 {
			line, message = tab, what
		}
	}
	if m := directive.FindSubmatchIndex(c.text); m != nil && strings.Contains(message, "incompatible YAML") {
		message = fmt.Sprintf("%%YAML %s is not supported; write %%YAML 1.1, or leave the line out", c.text[m[2]:m[3]])
		line = bytes.Count(c.text[:m[0]], []byte{'\n'}) + 1
	}
	message += lookalikeNear(c, line)
	if at := bytes.Index(c.text, []byte(charset.ByteOrderMark)); at >= 0 {
		message += fmt.Sprintf("; a byte order mark (EF BB BF), which editors do not show, stands in line %d: save the file without it",
			c.above+1+bytes.Count(c.text[:at], []byte{'\n'}))
	}
	last := bytes.Count(bytes.TrimRight(c.text, "\n"), []byte{'\n'}) + 1
	return &fault{c.above + min(line, last), errors.New(message)}
}

// tabbedLine returns the given line, or the next one, and a description if a tab indents it or
// follows a "-"; 0 otherwise.
func tabbedLine(text []byte, line int) (at int, what string) {
	n := 0
	for l := range bytes.Lines(text) {
		if n++; n < line {
			continue
		}
		if n > line+1 {
			break
		}
		if indent := len(l) - len(bytes.TrimLeft(l, " \t")); bytes.IndexByte(l[:indent], '\t') >= 0 {
			return n, "a tab indents this line; YAML takes spaces only"
		}
		if dashes := len(l) - len(bytes.TrimLeft(l, " \t-")); bytes.Contains(l[:dashes], []byte("-\t")) {
			return n, "a tab follows the \"-\" of this line; YAML takes spaces only"
		}
	}
	return 0, ""
}

const (
	// maxDepth is the greatest nesting depth of values. A pod needs less than 20.
	maxDepth = 100
	// maxExpanded is the greatest size of a document after its aliases are resolved, in bytes.
	maxExpanded = MaxManifest
)

// extent is the size and depth of a node after its aliases are resolved.
type extent struct{ size, depth int }

// measure computes the extent of every node, each once, however often it is referenced.
type measure struct {
	known map[*yaml.Node]extent
	open  map[*yaml.Node]bool
	above int
}

// bound refuses documents that would use far more memory than their length: aliases that multiply
// or contain themselves, and unlimited nesting. It also refuses duplicate keys, which the nodes
// still have. Otherwise it returns the size of the document after its aliases are resolved.
func bound(root *yaml.Node, above int) (size int, f *fault) {
	m := measure{known: map[*yaml.Node]extent{}, open: map[*yaml.Node]bool{}, above: above}
	e, f := m.node(root, 1)
	return e.size, f
}

func (m *measure) node(n *yaml.Node, depth int) (extent, *fault) {
	if e, ok := m.known[n]; ok {
		return e, nil
	}
	if m.open[n] {
		return extent{}, m.fault(n, "the anchor %q contains itself", n.Anchor)
	}
	if depth > maxDepth {
		return extent{}, m.fault(n, "nested deeper than %d levels", maxDepth)
	}
	m.open[n] = true
	defer delete(m.open, n)
	if n.Kind == yaml.MappingNode {
		if f := m.keys(n); f != nil {
			return extent{}, f
		}
	}
	e := extent{size: len(n.Value) + 1}
	parts := n.Content
	if n.Kind == yaml.AliasNode {
		parts = []*yaml.Node{n.Alias}
	}
	for _, part := range parts {
		inner, f := m.node(part, depth+1)
		if f != nil {
			return extent{}, f
		}
		e.size += inner.size
		e.depth = max(e.depth, inner.depth+1)
		if e.size > maxExpanded {
			return extent{}, m.fault(n, "larger than %d bytes once its aliases are resolved", maxExpanded)
		}
	}
	if depth+e.depth > maxDepth {
		return extent{}, m.fault(n, "nested deeper than %d levels", maxDepth)
	}
	m.known[n] = e
	return e, nil
}

// keys refuses mappings with duplicate keys. A merge key must come first, because parsers disagree
// about its effect on keys before it.
func (m *measure) keys(n *yaml.Node) *fault {
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			return m.fault(key, "a key must be a plain word")
		}
		if first, twice := seen[key.Value]; twice {
			return m.fault(key, "duplicate key %q, first in line %d", key.Value, first)
		}
		if i > 0 && key.Tag == "!!merge" {
			return m.fault(key, "the merge key << must come first")
		}
		seen[key.Value] = m.above + key.Line
	}
	return nil
}

func (m *measure) fault(n *yaml.Node, format string, args ...any) *fault {
	return &fault{m.above + n.Line, fmt.Errorf(format, args...)}
}
