package manifest

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

const (
	// maxDepth is how deep values may be nested; a pod needs less than 20.
	maxDepth = 100
	// maxExpanded is how large a document may become when its aliases are
	// resolved, in bytes.
	maxExpanded = MaxManifest
)

// extent is what a node becomes once its aliases are resolved.
type extent struct{ size, depth int }

// measure works out the extent of every node, each once, however often it is
// referred to.
type measure struct {
	known map[*yaml.Node]extent
	open  map[*yaml.Node]bool
	above int
}

// bound refuses documents that would cost far more than their length:
// aliases that multiply, contain themselves, or nesting without end. It also
// refuses duplicate keys, which the nodes still have.
// Otherwise it returns the size of the document once its aliases are resolved.
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

// keys refuses mappings that say a thing twice. A merge key must come first:
// parsers disagree about what it does to keys above it.
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
