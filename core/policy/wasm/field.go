package wasm

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// containersAlias is all containers of a pod: init, regular, ephemeral.
const containersAlias = "@containers"

// program writes the value that a path leads to, as seen from v.
type program struct {
	write func(r *record, v reflect.Value)
	// list: where the way to the value breaks off, it is an empty list,
	// because a [*] lies ahead; otherwise it is missing.
	list bool
}

func (p program) absent(r *record) {
	if p.list {
		r.end(r.list(0))
	} else {
		r.missing()
	}
}

// compile makes the program of the rest of a path, as seen from a value of
// type t. optional says that the field it stands in is left out when empty.
func compile(t reflect.Type, rest []segment, optional bool) (program, error) {
	if t.Kind() == reflect.Pointer {
		return compilePointer(t, rest)
	}
	if len(rest) == 0 {
		return compileValue(t, optional)
	}
	switch s := rest[0]; s.kind {
	case segmentField:
		if s.name == containersAlias {
			return compileContainers(t, rest[1:])
		}
		return compileField(t, s.name, rest[1:])
	case segmentKey:
		return compileKey(t, s.name, rest[1:])
	case segmentIndex:
		return compileIndex(t, s.index, rest[1:])
	default:
		return compileEach(t, rest[1:])
	}
}

func compilePointer(t reflect.Type, rest []segment) (program, error) {
	inner, err := compile(t.Elem(), rest, false)
	return program{list: inner.list, write: func(r *record, v reflect.Value) {
		if v.IsNil() {
			inner.absent(r)
		} else {
			inner.write(r, v.Elem())
		}
	}}, err
}

func compileField(t reflect.Type, name string, rest []segment) (program, error) {
	f, ok := findField(t, name)
	if !ok {
		return program{}, fmt.Errorf("%s has no field %q", describe(t), name)
	}
	inner, err := compile(f.of, rest, f.optional)
	if len(f.index) == 1 { // nearly always
		i := f.index[0]
		return program{list: inner.list, write: func(r *record, v reflect.Value) { inner.write(r, v.Field(i)) }}, err
	}
	return program{list: inner.list, write: func(r *record, v reflect.Value) { inner.write(r, v.FieldByIndex(f.index)) }}, err
}

func compileKey(t reflect.Type, key string, rest []segment) (program, error) {
	if t.Kind() != reflect.Map {
		return program{}, fmt.Errorf("%s has no keys: ['%s'] needs a map", describe(t), key)
	}
	if t == reflect.TypeFor[map[string]string]() && len(rest) == 0 { // labels and annotations
		return program{write: func(r *record, v reflect.Value) {
			m, _ := reflect.TypeAssert[map[string]string](v)
			if text, ok := m[key]; ok {
				r.text(text)
			} else {
				r.missing()
			}
		}}, nil
	}
	inner, err := compile(t.Elem(), rest, false)
	name := reflect.ValueOf(key).Convert(t.Key())
	return program{list: inner.list, write: func(r *record, v reflect.Value) {
		if entry := v.MapIndex(name); entry.IsValid() {
			inner.write(r, entry)
		} else {
			inner.absent(r)
		}
	}}, err
}

func compileIndex(t reflect.Type, index int, rest []segment) (program, error) {
	if t.Kind() != reflect.Slice {
		return program{}, fmt.Errorf("%s has no elements: [%d] needs a list", describe(t), index)
	}
	inner, err := compile(t.Elem(), rest, false)
	return program{list: inner.list, write: func(r *record, v reflect.Value) {
		if index < v.Len() {
			inner.write(r, v.Index(index))
		} else {
			inner.absent(r)
		}
	}}, err
}

func compileEach(t reflect.Type, rest []segment) (program, error) {
	if t.Kind() != reflect.Slice {
		return program{}, fmt.Errorf("%s has no elements: [*] needs a list", describe(t))
	}
	inner, err := compile(t.Elem(), rest, false)
	return program{list: true, write: func(r *record, v reflect.Value) {
		begin := r.list(v.Len())
		for i := range v.Len() {
			inner.write(r, v.Index(i))
		}
		r.end(begin)
	}}, err
}

// compileContainers makes the program of what follows @containers.
func compileContainers(t reflect.Type, rest []segment) (program, error) {
	if t != reflect.TypeFor[v1.PodSpec]() {
		return program{}, errors.New(containersAlias + " is a name of object.spec only")
	}
	var after []segment
	if len(rest) > 0 {
		if rest[0].kind != segmentEach && rest[0].kind != segmentIndex {
			return program{}, errors.New(containersAlias + " is a list: [*] or an index must follow")
		}
		after = rest[1:]
	}
	regular, err := compile(reflect.TypeFor[v1.Container](), after, false)
	ephemeral, err2 := compile(reflect.TypeFor[v1.EphemeralContainer](), after, false)
	switch {
	case err != nil && err2 != nil:
		return program{}, err
	case err != nil: // a field of ephemeral containers only
		regular = program{list: ephemeral.list, write: func(r *record, _ reflect.Value) { ephemeral.absent(r) }}
	case err2 != nil:
		ephemeral = program{list: regular.list, write: func(r *record, _ reflect.Value) { regular.absent(r) }}
	}
	one := func(r *record, spec *v1.PodSpec, i int) {
		inits, regulars := len(spec.InitContainers), len(spec.Containers)
		switch {
		case i < inits:
			regular.write(r, reflect.ValueOf(&spec.InitContainers[i]).Elem())
		case i < inits+regulars:
			regular.write(r, reflect.ValueOf(&spec.Containers[i-inits]).Elem())
		default:
			ephemeral.write(r, reflect.ValueOf(&spec.EphemeralContainers[i-inits-regulars]).Elem())
		}
	}
	p := program{list: regular.list}
	p.write = func(r *record, v reflect.Value) {
		spec, _ := reflect.TypeAssert[*v1.PodSpec](v.Addr())
		n := len(spec.InitContainers) + len(spec.Containers) + len(spec.EphemeralContainers)
		switch {
		case len(rest) > 0 && rest[0].kind == segmentIndex:
			if rest[0].index >= n {
				regular.absent(r)
				return
			}
			one(r, spec, rest[0].index)
		case len(rest) == 0 && n == 0:
			r.missing()
		default:
			begin := r.list(n)
			for i := range n {
				one(r, spec, i)
			}
			r.end(begin)
		}
	}
	if len(rest) > 0 && rest[0].kind == segmentEach {
		p.list = true
	}
	return p, nil
}

// structField is a field by its JSON name.
type structField struct {
	index    []int
	of       reflect.Type
	optional bool
}

// findField looks a JSON name up in a struct and in what is inlined in it.
func findField(t reflect.Type, name string) (structField, bool) {
	if t.Kind() != reflect.Struct || hasOwnForm(t) {
		return structField{}, false
	}
	for f := range t.Fields() {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == name && tag != "-":
			return structField{index: f.Index, of: f.Type, optional: slices.Contains(strings.Split(options, ","), "omitempty")}, true
		case tag == "" && f.Anonymous:
			if inner, ok := findField(f.Type, name); ok {
				inner.index = append(slices.Clone(f.Index), inner.index...)
				return inner, true
			}
		}
	}
	return structField{}, false
}

func describe(t reflect.Type) string {
	switch {
	case hasOwnForm(t), t.Kind() != reflect.Struct && t.Kind() != reflect.Slice && t.Kind() != reflect.Map:
		return "a single value"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Map:
		return "a map"
	}
	return t.Name()
}
