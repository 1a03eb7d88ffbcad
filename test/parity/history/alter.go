package history

import (
	"math/rand/v2"
	"reflect"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// alter changes one random field below v, which may be set, and returns its path. Sometimes the new
// value equals the old one. Nothing else may use the value below v.
func alter(r *rand.Rand, v reflect.Value) string {
	switch x := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*x = resource.MustParse(pick(r, "1", "2", "3", "250m", "64Mi", "1Gi"))
		return ""
	case *metav1.Time:
		*x = metav1.NewTime(moment(r))
		return ""
	case *metav1.MicroTime:
		*x = metav1.NewMicroTime(moment(r))
		return ""
	case *intstr.IntOrString:
		*x = pick(r, intstr.FromInt32(80), intstr.FromInt32(81), intstr.FromString("web"))
		return ""
	case *metav1.FieldsV1:
		x.SetRawString(`{"f:spec":{}}`)
		return ""
	}
	switch v.Kind() {
	case reflect.Struct:
		i := r.IntN(v.NumField())
		return "." + v.Type().Field(i).Name + alter(r, v.Field(i))
	case reflect.Pointer:
		if !v.IsNil() && r.IntN(3) == 0 {
			v.SetZero()
			return ""
		}
		to := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			to.Elem().Set(v.Elem())
		}
		path := alter(r, to.Elem())
		v.Set(to)
		return path
	case reflect.Slice:
		return "[]" + alterSlice(r, v)
	case reflect.Map:
		return "[]" + alterMap(r, v)
	case reflect.String:
		v.SetString(pick(r, "", "a", "b", "c"))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int64N(4))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64N(4))
	}
	return ""
}

func alterSlice(r *rand.Rand, v reflect.Value) string {
	n := v.Len()
	switch {
	case n == 1 && r.IntN(3) == 0:
		v.SetZero()
	case n == 0 || n < 3 && r.IntN(4) == 0:
		item := reflect.New(v.Type().Elem()).Elem()
		path := alter(r, item)
		v.Set(reflect.Append(v, item))
		return path
	case n > 1 && r.IntN(3) == 0:
		i := r.IntN(n)
		v.Set(reflect.AppendSlice(v.Slice(0, i), v.Slice(i+1, n)))
	default:
		return alter(r, v.Index(r.IntN(n)))
	}
	return ""
}

func alterMap(r *rand.Rand, v reflect.Value) string {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	key := reflect.New(v.Type().Key()).Elem()
	key.SetString("key" + strconv.Itoa(r.IntN(3)))
	if v.MapIndex(key).IsValid() && r.IntN(2) == 0 {
		v.SetMapIndex(key, reflect.Value{})
	} else {
		item := reflect.New(v.Type().Elem()).Elem()
		alter(r, item)
		v.SetMapIndex(key, item)
	}
	if v.Len() == 0 {
		v.SetZero()
	}
	return ""
}

// moment is a whole second, as in JSON.
func moment(r *rand.Rand) time.Time { return time.Unix(1_750_000_000+r.Int64N(4), 0).UTC() }

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
