package wasm

import (
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// own are the types that the API writes in a form of their own.
var own = map[reflect.Type]func(r *record, v any){
	reflect.TypeFor[metav1.Time](): func(r *record, v any) {
		if t := v.(metav1.Time); t.IsZero() {
			r.missing()
		} else {
			r.text(t.UTC().Format(time.RFC3339))
		}
	},
	reflect.TypeFor[resource.Quantity](): func(r *record, v any) {
		q := v.(resource.Quantity) // a copy: String remembers its result, and pods are shared
		r.text(q.String())
	},
	reflect.TypeFor[intstr.IntOrString](): func(r *record, v any) {
		if i := v.(intstr.IntOrString); i.Type == intstr.String {
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

// compileValue makes the program that writes a value of type t. An empty list
// or map is missing, and where the field is optional also an empty string or a
// zero number; a bool is always there.
func compileValue(t reflect.Type, optional bool) (program, error) {
	if write, ok := own[t]; ok {
		return program{write: func(r *record, v reflect.Value) { write(r, v.Interface()) }}, nil
	}
	switch t.Kind() {
	case reflect.String:
		return program{write: func(r *record, v reflect.Value) {
			if optional && v.Len() == 0 {
				r.missing()
			} else {
				r.text(v.String())
			}
		}}, nil
	case reflect.Bool:
		return program{write: func(r *record, v reflect.Value) { r.boolean(v.Bool()) }}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return program{write: func(r *record, v reflect.Value) {
			if optional && v.Int() == 0 {
				r.missing()
			} else {
				r.integer(v.Int())
			}
		}}, nil
	case reflect.Slice:
		return compileList(t)
	case reflect.Map:
		return compileMap(t)
	case reflect.Struct:
		return program{write: writeJSON}, nil
	default:
		return program{}, fmt.Errorf("values of type %s are not supported in this version", t)
	}
}

func compileList(t reflect.Type) (program, error) {
	element, err := compile(t.Elem(), nil, false)
	return program{write: func(r *record, v reflect.Value) {
		if v.Len() == 0 {
			r.missing()
			return
		}
		begin := r.list(v.Len())
		for i := range v.Len() {
			element.write(r, v.Index(i))
		}
		r.end(begin)
	}}, err
}

func compileMap(t reflect.Type) (program, error) {
	write := writeJSON
	if t == reflect.TypeFor[map[string]string]() {
		write = func(r *record, v reflect.Value) {
			m, _ := reflect.TypeAssert[map[string]string](v)
			r.texts(m)
		}
	}
	return program{write: func(r *record, v reflect.Value) {
		if v.Len() == 0 {
			r.missing()
		} else {
			write(r, v)
		}
	}}, nil
}

func writeJSON(r *record, v reflect.Value) { r.json(v.Interface()) }
