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

// typeBelow is the type of what a value of type t has at an element of a
// pointer. ok is false where it can have nothing of that name. Any element of a
// list may be meant by "*".
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

// fieldType is the type of the field of a struct, or of one it inlines, that has
// a name in JSON.
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

// typeAt is the type of what a pointer points to in a pod, nil where pods have
// no such field.
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
