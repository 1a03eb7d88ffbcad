package abi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	v1 "k8s.io/api/core/v1"
)

// program writes the value at a path. It is made once, when the path is declared,
// from the types on the path. When it runs, it reads memory at precomputed offsets
// and does not look at types.
type program struct {
	// offset is where the argument of write lies, relative to the value at which
	// the path starts: the sum of the offsets of the struct fields on the path.
	offset uintptr
	write  func(r *Record, at unsafe.Pointer)
	// list: if a value on the path is absent, the program writes an empty list,
	// because a [*] follows in the path. Otherwise it writes a missing value.
	list bool
}

// run writes the value for a path that starts at an address.
func (p *program) run(r *Record, at unsafe.Pointer) { p.write(r, unsafe.Add(at, p.offset)) }

func (p *program) absent(r *Record) {
	if p.list {
		r.end(r.list(0))
	} else {
		r.missing()
	}
}

// compileType makes the program of the rest of a path that starts at a value of
// type t. optional reports whether JSON omits the field of this value if it is
// empty.
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
	return program{list: inner.list, write: func(r *Record, at unsafe.Pointer) {
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

// lookupBytes is how many bytes of a key cost one unit in addition to the fuel of
// its value, because a map hashes the whole key.
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
		return program{write: func(r *Record, at unsafe.Pointer) {
			r.Extra += lookupExtra
			if text, ok := (*(*map[string]string)(at))[key]; ok {
				r.text(text)
			} else {
				r.missing()
			}
		}}, nil
	case reflect.TypeFor[v1.ResourceList](): // requests and limits
		return program{write: func(r *Record, at unsafe.Pointer) {
			r.Extra += lookupExtra
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
	return program{list: inner.list, write: func(r *Record, at unsafe.Pointer) {
		r.Extra += lookupExtra
		entry := reflect.NewAt(t, at).Elem().MapIndex(name)
		if !entry.IsValid() {
			inner.absent(r)
			return
		}
		copied := reflect.New(t.Elem()) // entries of a map have no address
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

// fieldOf is a JSON name in a type. foundFields holds the structField of each that
// was found before; the types of the API bound their number.
type fieldOf struct {
	in   reflect.Type
	name string
}

var foundFields sync.Map

// findField returns the field with a JSON name, of a struct or of the structs
// inlined in it.
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
