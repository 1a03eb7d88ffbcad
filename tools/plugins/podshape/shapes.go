package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// own has the types that the API encodes in a form of their own.
var own = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():        "time",
	reflect.TypeFor[resource.Quantity]():  "quantity",
	reflect.TypeFor[intstr.IntOrString](): "intOrString",
	reflect.TypeFor[metav1.FieldsV1]():    "json",
}

// scalars are the kinds that need no shape.
var scalars = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "bool", reflect.Int32: "int32", reflect.Int64: "int64",
}

// walk collects the shapes of structs, by name.
type walk struct {
	shapes map[string]string
	of     map[string]reflect.Type
}

// shapes returns the shapes of a struct and of all structs that it contains: a line with the type's
// name, and then a line "\tname type options" for each field.
func shapes(root reflect.Type) (string, error) {
	w := walk{map[string]string{}, map[string]reflect.Type{}}
	if _, err := w.name(root); err != nil {
		return "", err
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(w.shapes)) {
		text.WriteString(name + "\n" + w.shapes[name])
	}
	return text.String(), nil
}

// name returns the notation of a type and collects the shapes that the notation needs.
func (w *walk) name(t reflect.Type) (string, error) {
	if name, ok := own[t]; ok {
		return name, nil
	}
	if name, ok := scalars[t.Kind()]; ok {
		return name, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		inner, err := w.name(t.Elem())
		return "*" + inner, err
	case reflect.Slice:
		inner, err := w.name(t.Elem())
		return "[]" + inner, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return "", fmt.Errorf("%s: maps by %s are not supported", t, t.Key())
		}
		inner, err := w.name(t.Elem())
		if inner == scalars[reflect.String] && t != reflect.TypeFor[map[string]string]() {
			return "", fmt.Errorf("%s: a map of strings that is no map[string]string is not supported", t)
		}
		return "map:" + inner, err
	case reflect.Struct:
		return t.Name(), w.collect(t)
	}
	return "", fmt.Errorf("%s: a type of kind %s is not supported", t, t.Kind())
}

func (w *walk) collect(t reflect.Type) error {
	if other, ok := w.of[t.Name()]; ok {
		if other != t {
			return fmt.Errorf("%s and %s have one name", other, t)
		}
		return nil
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return fmt.Errorf("%s writes itself to JSON: it needs a name of its own", t)
	}
	w.of[t.Name()] = t
	fields, err := w.fields(t)
	w.shapes[t.Name()] = fields
	return err
}

func (w *walk) fields(t reflect.Type) (string, error) {
	var text strings.Builder
	for f := range t.Fields() {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "" {
			if !f.Anonymous {
				return "", fmt.Errorf("%s.%s has no json name", t, f.Name)
			}
			inlined, err := w.fields(f.Type)
			if err != nil {
				return "", err
			}
			text.WriteString(inlined)
			continue
		}
		name, err := w.name(f.Type)
		if err != nil {
			return "", fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		text.WriteString(strings.TrimRight("\t"+tag+" "+name+" "+options, " ") + "\n")
	}
	return text.String(), nil
}
