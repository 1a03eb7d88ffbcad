package projection

import (
	"fmt"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/shape"
)

// step writes the value that the rest of a path leads to.
type step struct {
	// write gets the value at which the rest of the path begins. It is nil if the pod does
	// not have it; a field that is not a pointer is then its zero value.
	write func(w *record.Writer, value any) error
	// list: the path has a [*] further on. If the path ends early, at a nil pointer or a
	// missing entry, an empty list is then written instead of a missing value.
	list bool
}

func (s step) absent(w *record.Writer) error {
	if s.list {
		w.List(0, nil)
	} else {
		w.Missing()
	}
	return nil
}

// follow makes the step for the rest of a path at a value of type t. optional reports
// whether the field is left out if it is empty. The error says that the path names no
// field.
func follow(t *shape.Type, rest []Segment, optional bool) (step, error) {
	if t.Kind == shape.Pointer {
		inner, err := follow(t.Elem, rest, false)
		return step{list: inner.list, write: func(w *record.Writer, value any) error {
			if value == nil {
				return inner.absent(w)
			}
			return inner.write(w, value)
		}}, err
	}
	if len(rest) == 0 {
		return whole(t, optional), nil
	}
	switch s := rest[0]; {
	case s.kind == segmentField && s.name == containersAlias:
		return followContainers(t, rest[1:])
	case s.kind == segmentField:
		return followField(t, s.name, rest[1:])
	case s.kind == segmentKey:
		return followKey(t, s.name, rest[1:])
	case s.kind == segmentIndex:
		return followIndex(t, s.index, rest[1:])
	}
	return followEach(t, rest[1:])
}

func followField(t *shape.Type, name string, rest []Segment) (step, error) {
	f, ok := t.Field(name)
	if !ok {
		return step{}, fmt.Errorf("%s has no field %q", describe(t), name)
	}
	inner, err := follow(f.Type, rest, f.OmitEmpty)
	return step{list: inner.list, write: func(w *record.Writer, value any) error {
		object, _ := value.(map[string]any)
		return inner.write(w, object[name])
	}}, err
}

func followKey(t *shape.Type, key string, rest []Segment) (step, error) {
	if t.Kind != shape.Map {
		return step{}, fmt.Errorf("%s has no keys: ['%s'] needs a map", describe(t), key)
	}
	inner, err := follow(t.Elem, rest, false)
	return step{list: inner.list, write: func(w *record.Writer, value any) error {
		object, _ := value.(map[string]any)
		if entry, ok := object[key]; ok {
			return inner.write(w, entry)
		}
		return inner.absent(w)
	}}, err
}

func followIndex(t *shape.Type, index int, rest []Segment) (step, error) {
	if t.Kind != shape.List {
		return step{}, fmt.Errorf("%s has no elements: [%d] needs a list", describe(t), index)
	}
	inner, err := follow(t.Elem, rest, false)
	return step{list: inner.list, write: func(w *record.Writer, value any) error {
		list, _ := value.([]any)
		if index < len(list) {
			return inner.write(w, list[index])
		}
		return inner.absent(w)
	}}, err
}

func followEach(t *shape.Type, rest []Segment) (step, error) {
	if t.Kind != shape.List {
		return step{}, fmt.Errorf("%s has no elements: [*] needs a list", describe(t))
	}
	inner, err := follow(t.Elem, rest, false)
	return step{list: true, write: func(w *record.Writer, value any) error {
		list, _ := value.([]any)
		return each(w, len(list), func(i int) error { return inner.write(w, list[i]) })
	}}, err
}

// each writes a list of n values, and returns the first error.
func each(w *record.Writer, n int, element func(i int) error) (err error) {
	w.List(n, func(i int) {
		if err == nil {
			err = element(i)
		}
	})
	return err
}

func describe(t *shape.Type) string {
	switch t.Kind {
	case shape.Struct:
		return t.Name
	case shape.List:
		return "a list"
	case shape.Map:
		return "a map"
	}
	return "a single value"
}
