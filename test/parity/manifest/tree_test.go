package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"
)

// tree parses a document as the JSON that it stands for.
func tree(text []byte) (map[string]any, error) {
	js, err := sigsyaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	dec := json.NewDecoder(strings.NewReader(string(js)))
	dec.UseNumber()
	return m, dec.Decode(&m)
}

// value parses one YAML value.
func value(text string) any {
	js, err := sigsyaml.YAMLToJSON([]byte(text))
	if err != nil {
		panic(fmt.Sprintf("%q: %v", text, err))
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(string(js)))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		panic(fmt.Sprintf("%q: %v", text, err))
	}
	return v
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			out[key] = clone(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = clone(inner)
		}
		return out
	default:
		return v
	}
}

// steps splits a path such as spec.containers[0].resources.limits[cpu] at its dots and brackets. A
// key in brackets may contain dots.
func steps(path string) []string {
	var out []string
	for path != "" {
		if inner, ok := strings.CutPrefix(path, "["); ok {
			step, rest, _ := strings.Cut(inner, "]")
			out, path = append(out, step), strings.TrimPrefix(rest, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(out, path)
		}
		out, path = append(out, path[:end]), strings.TrimPrefix(path[end:], ".")
	}
	return out
}

// put sets the value at the path and creates missing objects on the way; with remove it deletes the
// field. It reports whether the path could be followed.
func put(m map[string]any, path string, v any, remove bool) bool {
	at := steps(path)
	var node any = m
	for i, step := range at {
		last := i == len(at)-1
		switch n := node.(type) {
		case map[string]any:
			if last && remove {
				delete(n, step)
				return true
			}
			if last {
				n[step] = v
				return true
			}
			if n[step] == nil {
				if remove {
					return false
				}
				n[step] = map[string]any{}
			}
			node = n[step]
		case []any:
			index, err := strconv.Atoi(step)
			if err != nil || index < 0 || index >= len(n) {
				return false
			}
			if last {
				n[index] = v // An item that is removed is null: the others keep their places.
				return true
			}
			node = n[index]
		default:
			return false
		}
	}
	return false
}

// render writes a document as YAML. It writes JSON if asJSON is set, or if YAML has no form for a
// character.
func render(m map[string]any, asJSON bool) []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	if asJSON {
		return text
	}
	if block, err := sigsyaml.JSONToYAML(text); err == nil {
		return block
	}
	return text
}

// where is a field of a document.
type where struct {
	in  any // the object or list that holds it
	key string
	at  int
}

// remove removes the field. An item of a list becomes null, so that the others keep their indices.
func (w where) remove() {
	switch in := w.in.(type) {
	case map[string]any:
		delete(in, w.key)
	case []any:
		in[w.at] = nil
	}
}

// placesOf returns the fields that a path in an error of Wardlet can mean: the path begins at the
// pod, which is the document or an item of a list. Names may contain dots and brackets, so the path
// is matched along the document.
func placesOf(doc map[string]any, path string) []where {
	if path == "" {
		return nil
	}
	found := find(doc, path)
	items, _ := doc["items"].([]any)
	for _, item := range items {
		found = append(found, find(item, path)...)
	}
	return found
}

func find(v any, path string) []where {
	var found []where
	along := func(at where, inner any, step string) {
		rest, ok := strings.CutPrefix(path, step)
		if !ok {
			return
		}
		switch {
		case rest == "":
			found = append(found, at)
		case rest[0] == '.':
			found = append(found, find(inner, rest[1:])...)
		case rest[0] == '[':
			found = append(found, find(inner, rest)...)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			at := where{in: v, key: key}
			along(at, inner, cmp.Or(key, `""`))
			along(at, inner, "["+key+"]")
		}
	case []any:
		for i, inner := range v {
			along(where{in: v, at: i}, inner, fmt.Sprintf("[%d]", i))
		}
	}
	return found
}

// patternOf turns the path of a field outside maps into the path of its row in
// docs/supported-fields.md.
func patternOf(path string) string {
	var b strings.Builder
	for i, step := range steps(path) {
		if _, err := strconv.Atoi(step); err == nil {
			b.WriteString("[]")
			continue
		}
		if i > 0 {
			b.WriteString(".")
		}
		b.WriteString(step)
	}
	return b.String()
}
