package mutate

import (
	"encoding/json"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

var (
	podType      = reflect.TypeFor[v1.Pod]()
	quantityType = reflect.TypeFor[resource.Quantity]()
	unmarshaler  = reflect.TypeFor[json.Unmarshaler]()
)

// typeBelow returns the type of the value at an element of a pointer, below a value
// of type t. ok is false if there cannot be such an element. "*" stands for any
// element of a list.
func typeBelow(t reflect.Type, token string) (below reflect.Type, ok bool) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return nil, false
	}
	switch t.Kind() {
	case reflect.Struct:
		return fieldType(t, token)
	case reflect.Map:
		return t.Elem(), token != ""
	case reflect.Slice:
		_, index := indexOf(token)
		return t.Elem(), index || token == anyElement
	default:
		return nil, false
	}
}

// fieldType returns the type of the field with a JSON name, in a struct or in a
// struct that it inlines.
func fieldType(t reflect.Type, name string) (reflect.Type, bool) {
	for f := range t.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case tag == "" && f.Anonymous:
			if inner, ok := fieldType(f.Type, name); ok {
				return inner, true
			}
		case tag == name:
			return f.Type, true
		}
	}
	return nil, false
}

// typeAt returns the type of the value to which a pointer in a pod points, nil if
// pods have no such field.
func typeAt(at pointer) reflect.Type {
	t := podType
	for _, token := range at {
		below, ok := typeBelow(t, token)
		if !ok {
			return nil
		}
		t = below
	}
	return t
}
