package abi

import (
	"fmt"
	"reflect"
	"strconv"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// own are the types that the API encodes in a form of their own.
var own = map[reflect.Type]func(r *Record, at unsafe.Pointer){
	reflect.TypeFor[metav1.Time]():       func(r *Record, at unsafe.Pointer) { r.time((*metav1.Time)(at).Time) },
	reflect.TypeFor[resource.Quantity](): func(r *Record, at unsafe.Pointer) { r.amount((*resource.Quantity)(at)) },
	reflect.TypeFor[intstr.IntOrString](): func(r *Record, at unsafe.Pointer) {
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
		return program{write: func(r *Record, at unsafe.Pointer) { r.boolean(*(*bool)(at)) }}, nil
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

func writeText(optional bool) func(r *Record, at unsafe.Pointer) {
	if !optional {
		return func(r *Record, at unsafe.Pointer) { r.text(*(*string)(at)) }
	}
	return func(r *Record, at unsafe.Pointer) {
		if text := *(*string)(at); text != "" {
			r.text(text)
		} else {
			r.missing()
		}
	}
}

func writeInteger[N int32 | int64](optional bool) func(r *Record, at unsafe.Pointer) {
	return func(r *Record, at unsafe.Pointer) {
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
	return program{write: func(r *Record, at unsafe.Pointer) {
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

func writeMap(t reflect.Type) func(r *Record, at unsafe.Pointer) {
	if t == reflect.TypeFor[map[string]string]() {
		return func(r *Record, at unsafe.Pointer) {
			if m := *(*map[string]string)(at); len(m) > 0 {
				r.texts(m)
			} else {
				r.missing()
			}
		}
	}
	write := writeJSON(t)
	return func(r *Record, at unsafe.Pointer) {
		if reflect.NewAt(t, at).Elem().Len() > 0 {
			write(r, at)
		} else {
			r.missing()
		}
	}
}

func writeJSON(t reflect.Type) func(r *Record, at unsafe.Pointer) {
	cost := jsonCostOf(t)
	return func(r *Record, at unsafe.Pointer) {
		r.Extra += cost.of(at)
		r.json(reflect.NewAt(t, at).Interface())
	}
}

// binarySuffixes are the suffixes of the powers of 1024.
var binarySuffixes = [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// These are the costs of a quantity in addition to the fuel of a value, in units of
// fuel. wholeExtra is the cost of a whole number that fits into an int64.
// otherExtra is the cost of any other, which may have any number of digits. They
// are no part of the fuel, which is recorded, so that a replayed decision uses the
// same fuel.
const (
	wholeExtra = 100
	otherExtra = 2000
)

func quantityExtra(q *resource.Quantity) int64 {
	if _, whole := q.AsInt64(); whole {
		return wholeExtra
	}
	return otherExtra
}

// amount appends a quantity in canonical form. It copies q and does not change it:
// pods are shared, and the String method of a quantity stores its result in it.
func (r *Record) amount(q *resource.Quantity) {
	r.quantity = *q
	begin := r.open(typeString)
	n, whole := r.quantity.AsInt64()
	r.Extra += quantityExtra(q)
	if whole && q.Format == resource.BinarySI && n >= 1024 {
		power := 0 // as CanonicalizeBytes does, which allocates for the suffix
		for ; n%1024 == 0; n /= 1024 {
			power++
		}
		r.Out = append(strconv.AppendInt(r.Out, n, 10), binarySuffixes[power]...)
	} else {
		if r.number == nil {
			r.number = make([]byte, 0, 64)
		}
		number, suffix := r.quantity.CanonicalizeBytes(r.number[:0])
		r.Out = append(append(r.Out, number...), suffix...)
	}
	r.end(begin)
}
