package manifest

import (
	"encoding/json"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// at is the line of the file where the field of the path stands, or the
// nearest of its parents that exists; the empty path is the document's. Paths
// are those of fault messages: spec.containers[0].resources.limits[cpu].
func (t tree) at(path string) int {
	line, _ := t.walk(path)
	return t.above + line
}

// maxShown is how many bytes of a number are shown; numbers are ASCII.
const maxShown = 64

// written is the number at the path as it stands in the text, which may say
// more than the value does: great numbers are rounded when they are read.
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

// walk returns the line of the field of the path, or of the nearest of its
// parents that exists, and the field's value, nil where it does not exist.
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

// nextStep takes the first step off a path: a name, or what stands in
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

// find returns the member of a mapping, or the item of a list, that the step
// leads to, and the node that marks its line.
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
