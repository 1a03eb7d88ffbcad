package condition

import (
	"fmt"
	"reflect"
	"time"

	"cel.dev/cel-go/common/types"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// reading describes how values of a Go type are read.
type reading struct {
	celType *types.Type
	// get returns a value that vocabulary.NativeToValue accepts.
	get func(reflect.Value) (any, error)
	// isSet returns the result of the macro has.
	isSet func(reflect.Value) bool
	// of is the type of the objects to which get returns pointers, nil for other
	// values.
	of *structure
}

// epoch is the value that a time reads as if it is not set.
var epoch = time.Unix(0, 0).UTC()

// special are the types that are not read by their kind in Go.
var special = map[reflect.Type]*reading{
	reflect.TypeFor[time.Time](): {
		celType: types.TimestampType,
		get:     func(v reflect.Value) (any, error) { return timestamp(*addressed[time.Time](v)), nil },
		isSet:   func(v reflect.Value) bool { return !addressed[time.Time](v).IsZero() },
	},
	reflect.TypeFor[metav1.Time](): {
		celType: types.TimestampType,
		get:     func(v reflect.Value) (any, error) { return timestamp(addressed[metav1.Time](v).Time), nil },
		isSet:   func(v reflect.Value) bool { return !addressed[metav1.Time](v).IsZero() },
	},
	reflect.TypeFor[time.Duration](): {
		celType: types.DurationType,
		get:     func(v reflect.Value) (any, error) { return types.Duration{Duration: time.Duration(v.Int())}, nil },
		isSet:   isNotZero,
	},
	reflect.TypeFor[resource.Quantity](): {
		celType: types.StringType,
		get: func(v reflect.Value) (any, error) {
			q, _ := reflect.TypeAssert[resource.Quantity](v)
			shown, err := canonical(q)
			return types.String(shown), err
		},
		isSet: isNotZero,
	},
	reflect.TypeFor[intstr.IntOrString](): {
		celType: types.DynType,
		get:     func(v reflect.Value) (any, error) { return numberOrName(addressed[intstr.IntOrString](v)) },
		isSet:   isNotZero,
	},
}

func isNotZero(v reflect.Value) bool { return !v.IsZero() }

// addressed returns a pointer to the value itself, not to a copy. Fields and
// elements have addresses, because they are read through pointers.
func addressed[T any](v reflect.Value) *T {
	p, _ := reflect.TypeAssert[*T](v.Addr())
	return p
}

func timestamp(t time.Time) types.Timestamp {
	if t.IsZero() {
		return types.Timestamp{Time: epoch}
	}
	return types.Timestamp{Time: t}
}

// maxPortName is the longest text of a port by number or name. rules.go does not
// allow sums of such texts.
const maxPortName = 256

func numberOrName(n *intstr.IntOrString) (any, error) {
	if n.Type == intstr.Int {
		return types.Int(n.IntVal), nil
	}
	if len(n.StrVal) > maxPortName {
		return nil, fmt.Errorf("a name of %d bytes is too long; conditions read %d at most", len(n.StrVal), maxPortName)
	}
	return types.String(n.StrVal), nil
}

// reading returns the reading for a Go type.
func (v *vocabulary) reading(t reflect.Type) (*reading, error) {
	if r, ok := special[t]; ok {
		return r, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return &reading{types.BoolType, func(v reflect.Value) (any, error) { return types.Bool(v.Bool()), nil }, isNotZero, nil}, nil
	case reflect.Int, reflect.Int32, reflect.Int64:
		return &reading{types.IntType, func(v reflect.Value) (any, error) { return types.Int(v.Int()), nil }, isNotZero, nil}, nil
	case reflect.String:
		return &reading{types.StringType, func(v reflect.Value) (any, error) { return text(v.String()) }, isNotZero, nil}, nil
	case reflect.Pointer:
		return v.pointerReading(t)
	case reflect.Struct:
		s, err := v.structure(t)
		if err != nil {
			return nil, err
		}
		return &reading{s.celType, func(v reflect.Value) (any, error) { return v.Addr().Interface(), nil }, isNotZero, s}, nil
	case reflect.Slice:
		return v.listReading(t)
	case reflect.Map:
		return v.mapReading(t)
	default:
		return nil, fmt.Errorf("values of type %v cannot be read", t)
	}
}

func text(s string) (any, error) {
	if len(s) > maxText {
		return nil, fmt.Errorf("a text of %d bytes is too long; conditions read %d at most", len(s), maxText)
	}
	return types.String(s), nil
}

// pointerReading returns the reading for a pointer. A nil pointer reads as null for
// objects, else as the zero value.
func (v *vocabulary) pointerReading(t reflect.Type) (*reading, error) {
	of, err := v.reading(t.Elem())
	if err != nil {
		return nil, err
	}
	unset := func(reflect.Value) (any, error) { return types.NullValue, nil }
	if of.celType.Kind() != types.StructKind {
		zero := reflect.New(t.Elem()).Elem()
		unset = func(reflect.Value) (any, error) { return of.get(zero) }
	}
	return &reading{
		celType: of.celType,
		get: func(v reflect.Value) (any, error) {
			if v.IsNil() {
				return unset(v)
			}
			return of.get(v.Elem())
		},
		isSet: func(v reflect.Value) bool { return !v.IsNil() },
		of:    of.of,
	}, nil
}

func (v *vocabulary) listReading(t reflect.Type) (*reading, error) {
	of, err := v.reading(t.Elem())
	if err != nil {
		return nil, err
	}
	return &reading{
		celType: types.NewListType(of.celType),
		get: func(items reflect.Value) (any, error) {
			return &list{vocabulary: v, items: items, element: of}, nil
		},
		isSet: func(v reflect.Value) bool { return v.Len() > 0 },
	}, nil
}

func (v *vocabulary) mapReading(t reflect.Type) (*reading, error) {
	if t.Key().Kind() != reflect.String {
		return nil, fmt.Errorf("keys of type %v cannot be read", t.Key())
	}
	of, err := v.reading(t.Elem())
	if err != nil {
		return nil, err
	}
	if of.celType != types.StringType { // the entries of Go's maps have no address
		return nil, fmt.Errorf("a map of %v cannot be read", t.Elem())
	}
	return &reading{
		celType: types.NewMapType(types.StringType, of.celType),
		get: func(entries reflect.Value) (any, error) {
			return &mapping{vocabulary: v, entries: entries, element: of}, nil
		},
		isSet: func(v reflect.Value) bool { return v.Len() > 0 },
	}, nil
}
