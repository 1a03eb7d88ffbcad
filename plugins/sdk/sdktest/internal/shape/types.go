package shape

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Kind is the kind of a type, which says how its values are written.
type Kind string

// The kinds. Time, Quantity and IntOrString have forms of their own. JSON is used
// unchanged.
const (
	String      Kind = "string"
	Bool        Kind = "bool"
	Int32       Kind = "int32"
	Int64       Kind = "int64"
	Time        Kind = "time"
	Quantity    Kind = "quantity"
	IntOrString Kind = "intOrString"
	JSON        Kind = "json"
	Pointer     Kind = "*"
	List        Kind = "[]"
	Map         Kind = "map:"
	Struct      Kind = "struct"
)

// Type is a type of the Pod API.
type Type struct {
	Kind Kind
	// Name is the name of a struct.
	Name string
	// Elem is the type of the value of a pointer, or of the elements of a list or map.
	Elem *Type
	// Fields are the fields of a struct, in the order in which they are written.
	Fields []Field
}

// Field is a field of a struct.
type Field struct {
	Name string
	Type *Type
	// OmitEmpty: an empty string, list or map, a zero number, false and nil are left out.
	// OmitZero: an empty struct is left out, too.
	OmitEmpty, OmitZero bool
}

// Field returns the field with a JSON name.
func (t *Type) Field(name string) (f Field, ok bool) {
	for _, f := range t.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// Without returns the type of a struct without the fields with these names. The structs in
// its fields lack fields with these names, too.
func (t *Type) Without(names ...string) *Type {
	without := *t
	without.Fields = nil
	for _, f := range t.Fields {
		if slices.Contains(names, f.Name) {
			continue
		}
		if f.Type.Kind == Struct {
			f.Type = f.Type.Without(names...)
		}
		without.Fields = append(without.Fields, f)
	}
	return &without
}

//go:embed pod.txt
var podText string

//go:embed question.txt
var questionText string

var types = sync.OnceValues(func() (map[string]*Type, error) { return parse(podText + questionText) })

// Named returns the type of a struct of the Pod API, or of another part of a question:
// Request, Node, NodePod or Candidate.
func Named(name string) (*Type, error) {
	all, err := types()
	if err != nil {
		return nil, err
	}
	t, ok := all[name]
	if !ok {
		return nil, fmt.Errorf("there is no type %s", name)
	}
	return t, nil
}

// parse parses shapes: a line with the name of a struct, then one line for each field with
// a tab, its name, its type and when it is left out.
func parse(text string) (map[string]*Type, error) {
	structs := map[string]*Type{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for _, line := range lines {
		if !strings.HasPrefix(line, "\t") {
			structs[line] = &Type{Kind: Struct, Name: line}
		}
	}
	var of *Type
	for i, line := range lines {
		if !strings.HasPrefix(line, "\t") {
			of = structs[line]
			continue
		}
		words := strings.Fields(line)
		if of == nil || len(words) < 2 || len(words) > 3 {
			return nil, fmt.Errorf("shapes:%d: want a tab, a name, a type and options", i+1)
		}
		t, err := parseType(structs, words[1])
		if err != nil {
			return nil, fmt.Errorf("shapes:%d: %w", i+1, err)
		}
		f := Field{Name: words[0], Type: t}
		if len(words) == 3 {
			for option := range strings.SplitSeq(words[2], ",") {
				switch option {
				case "omitempty":
					f.OmitEmpty = true
				case "omitzero":
					f.OmitZero = true
				default:
					return nil, fmt.Errorf("shapes:%d: unknown option %q", i+1, option)
				}
			}
		}
		of.Fields = append(of.Fields, f)
	}
	return structs, nil
}

func parseType(structs map[string]*Type, notation string) (*Type, error) {
	for _, prefix := range []Kind{Pointer, List, Map} {
		if rest, ok := strings.CutPrefix(notation, string(prefix)); ok {
			elem, err := parseType(structs, rest)
			return &Type{Kind: prefix, Elem: elem}, err
		}
	}
	switch k := Kind(notation); k {
	case String, Bool, Int32, Int64, Time, Quantity, IntOrString, JSON:
		return &Type{Kind: k}, nil
	}
	if t, ok := structs[notation]; ok {
		return t, nil
	}
	return nil, fmt.Errorf("unknown type %q", notation)
}
