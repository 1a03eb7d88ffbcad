package wasm

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	v1 "k8s.io/api/core/v1"
)

// program writes the value that a path leads to. It is made once, when the
// path is declared, of the types on the way; when it runs it reads memory at
// the places they gave, without a look at the types.
type program struct {
	// offset is where write begins, counted from the value that the path is
	// seen from: the fields of structs on the way are added up.
	offset uintptr
	write  func(r *record, at unsafe.Pointer)
	// list: where the way to the value breaks off, it is an empty list,
	// because a [*] lies ahead; otherwise it is missing.
	list bool
}

// run writes the value, as seen from what lies at an address.
func (p *program) run(r *record, at unsafe.Pointer) { p.write(r, unsafe.Add(at, p.offset)) }

func (p *program) absent(r *record) {
	if p.list {
		r.end(r.list(0))
	} else {
		r.missing()
	}
}

// compileType makes the program of the rest of a path, as seen from a value of
// type t. optional says that the field it stands in is left out when empty.
func compileType(t reflect.Type, rest []segment, optional bool) (program, error) {
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
	default:
		return compileElements(t, s, rest[1:])
	}
}

func compilePointer(t reflect.Type, rest []segment) (program, error) {
	inner, err := compileType(t.Elem(), rest, false)
	return program{list: inner.list, write: func(r *record, at unsafe.Pointer) {
		if to := *(*unsafe.Pointer)(at); to != nil {
			inner.run(r, to)
		} else {
			inner.absent(r)
		}
	}}, err
}

func compileField(t reflect.Type, name string, rest []segment) (program, error) {
	f, ok := findField(t, name)
	if !ok {
		return program{}, fmt.Errorf("%s has no field %q", describe(t), name)
	}
	inner, err := compileType(f.of, rest, f.optional)
	inner.offset += f.offset
	return inner, err
}

// lookupBytes is how many bytes of a key cost a unit beside the fuel of its value: a map
// hashes all of them.
const lookupBytes = 8

func compileKey(t reflect.Type, key string, rest []segment) (program, error) {
	if t.Kind() != reflect.Map {
		return program{}, fmt.Errorf("%s has no keys: ['%s'] needs a map", describe(t), key)
	}
	inner, err := compileType(t.Elem(), rest, false)
	if err != nil {
		return program{}, err
	}
	lookupExtra := int64(len(key) / lookupBytes)
	switch t {
	case reflect.TypeFor[map[string]string](): // labels and annotations
		return program{write: func(r *record, at unsafe.Pointer) {
			r.extra += lookupExtra
			if text, ok := (*(*map[string]string)(at))[key]; ok {
				r.text(text)
			} else {
				r.missing()
			}
		}}, nil
	case reflect.TypeFor[v1.ResourceList](): // requests and limits
		return program{write: func(r *record, at unsafe.Pointer) {
			r.extra += lookupExtra
			q, ok := (*(*v1.ResourceList)(at))[v1.ResourceName(key)]
			if !ok {
				r.missing()
				return
			}
			r.quantity = q
			r.amount(&r.quantity)
		}}, nil
	}
	name := reflect.ValueOf(key).Convert(t.Key())
	return program{list: inner.list, write: func(r *record, at unsafe.Pointer) {
		r.extra += lookupExtra
		entry := reflect.NewAt(t, at).Elem().MapIndex(name)
		if !entry.IsValid() {
			inner.absent(r)
			return
		}
		copied := reflect.New(t.Elem()) // entries of a map have no place
		copied.Elem().Set(entry)
		inner.run(r, copied.UnsafePointer())
	}}, nil
}

// structField is a field by its JSON name.
type structField struct {
	offset   uintptr
	of       reflect.Type
	optional bool
}

// fieldOf is a JSON name in a type, foundFields the structField of each that was found
// before: there are as many as the API has.
type fieldOf struct {
	in   reflect.Type
	name string
}

var foundFields sync.Map

// findField looks a JSON name up in a struct and in what is inlined in it.
func findField(t reflect.Type, name string) (structField, bool) {
	if found, ok := foundFields.Load(fieldOf{t, name}); ok {
		return found.(structField), true // nothing else is stored
	}
	f, ok := searchField(t, name)
	if ok {
		foundFields.Store(fieldOf{t, strings.Clone(name)}, f)
	}
	return f, ok
}

func searchField(t reflect.Type, name string) (structField, bool) {
	if t.Kind() != reflect.Struct || hasOwnForm(t) {
		return structField{}, false
	}
	for f := range t.Fields() {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == name && tag != "-":
			return structField{offset: f.Offset, of: f.Type, optional: slices.Contains(strings.Split(options, ","), "omitempty")}, true
		case tag == "" && f.Anonymous:
			if inner, ok := searchField(f.Type, name); ok {
				inner.offset += f.Offset
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
