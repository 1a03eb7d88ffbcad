package wasm

import (
	"fmt"
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// own are the types that the API encodes in a form of their own.
var own = map[reflect.Type]func(r *record, at unsafe.Pointer){
	reflect.TypeFor[metav1.Time]():       func(r *record, at unsafe.Pointer) { r.time((*metav1.Time)(at).Time) },
	reflect.TypeFor[resource.Quantity](): func(r *record, at unsafe.Pointer) { r.amount((*resource.Quantity)(at)) },
	reflect.TypeFor[intstr.IntOrString](): func(r *record, at unsafe.Pointer) {
		if i := (*intstr.IntOrString)(at); i.Type == intstr.String {
			r.text(i.StrVal)
		} else {
			r.integer(int64(i.IntVal))
		}
	},
}

func hasOwnForm(t reflect.Type) bool {
	_, ok := own[t]
	return ok
}

// compileValue makes the program that writes a value of type t. An empty list or
// map is written as missing. If the field is optional, an empty string or a zero
// number is missing, too. A bool is always written.
func compileValue(t reflect.Type, optional bool) (program, error) {
	if write, ok := own[t]; ok {
		return program{write: write}, nil
	}
	switch t.Kind() {
	case reflect.String:
		return program{write: writeText(optional)}, nil
	case reflect.Bool:
		return program{write: func(r *record, at unsafe.Pointer) { r.boolean(*(*bool)(at)) }}, nil
	case reflect.Int32:
		return program{write: writeInteger[int32](optional)}, nil
	case reflect.Int64:
		return program{write: writeInteger[int64](optional)}, nil
	case reflect.Slice:
		return compileList(t)
	case reflect.Map:
		return program{write: writeMap(t)}, nil
	case reflect.Struct:
		return program{write: writeJSON(t)}, nil
	default:
		return program{}, fmt.Errorf("values of type %s are not supported in this version", t)
	}
}

func writeText(optional bool) func(r *record, at unsafe.Pointer) {
	if !optional {
		return func(r *record, at unsafe.Pointer) { r.text(*(*string)(at)) }
	}
	return func(r *record, at unsafe.Pointer) {
		if text := *(*string)(at); text != "" {
			r.text(text)
		} else {
			r.missing()
		}
	}
}

func writeInteger[N int32 | int64](optional bool) func(r *record, at unsafe.Pointer) {
	return func(r *record, at unsafe.Pointer) {
		if n := *(*N)(at); n != 0 || !optional {
			r.integer(int64(n))
		} else {
			r.missing()
		}
	}
}

func compileList(t reflect.Type) (program, error) {
	element, err := compileType(t.Elem(), nil, false)
	size := t.Elem().Size()
	return program{write: func(r *record, at unsafe.Pointer) {
		first, n := elements(at)
		if n == 0 {
			r.missing()
			return
		}
		begin := r.list(n)
		element.each(r, first, n, size)
		r.end(begin)
	}}, err
}

func writeMap(t reflect.Type) func(r *record, at unsafe.Pointer) {
	if t == reflect.TypeFor[map[string]string]() {
		return func(r *record, at unsafe.Pointer) {
			if m := *(*map[string]string)(at); len(m) > 0 {
				r.texts(m)
			} else {
				r.missing()
			}
		}
	}
	write := writeJSON(t)
	return func(r *record, at unsafe.Pointer) {
		if reflect.NewAt(t, at).Elem().Len() > 0 {
			write(r, at)
		} else {
			r.missing()
		}
	}
}

func writeJSON(t reflect.Type) func(r *record, at unsafe.Pointer) {
	cost := jsonCostOf(t)
	return func(r *record, at unsafe.Pointer) {
		r.extra += cost.of(at)
		r.json(reflect.NewAt(t, at).Interface())
	}
}
