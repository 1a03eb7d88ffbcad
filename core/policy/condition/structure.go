package condition

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// structure is an object type with its fields.
type structure struct {
	goType  reflect.Type
	celType *types.Type
	// zero is the value that is read for an object that is not set. It is never
	// written to.
	zero   reflect.Value
	fields map[string]*types.FieldType
}

// hidden are the fields that expressions cannot see, by Go type and name.
var hidden = map[reflect.Type][]string{
	reflect.TypeFor[corev1.Pod]():        {"TypeMeta", "Status"},
	reflect.TypeFor[metav1.ObjectMeta](): {"ManagedFields"},
}

// addFields adds the fields of t to s, by their JSON names. at is the index path
// from s to t if t is embedded in s.
func (v *vocabulary) addFields(s *structure, t reflect.Type, at []int) error {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || slices.Contains(hidden[t], f.Name) {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		path := append(slices.Clone(at), i)
		switch {
		case name == "-":
			continue
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			if err := v.addFields(s, f.Type, path); err != nil {
				return err
			}
			continue
		case name == "":
			return fmt.Errorf("the field %v.%s has no name in JSON", t, f.Name)
		}
		r, err := v.reading(f.Type)
		if err != nil {
			return fmt.Errorf("the field %v.%s: %w", t, f.Name, err)
		}
		s.fields[name] = s.fieldType(name, path, r)
	}
	return nil
}

func (s *structure) fieldType(name string, path []int, r *reading) *types.FieldType {
	return &types.FieldType{
		Type:  r.celType,
		IsSet: func(of any) bool { return r.isSet(s.value(of).FieldByIndex(path)) },
		GetFrom: func(of any) (any, error) {
			got, err := r.get(s.value(of).FieldByIndex(path))
			if err != nil {
				return nil, fmt.Errorf("the field %s: %w", name, err)
			}
			return got, nil
		},
	}
}

// value returns the struct that of points to, the zero struct if of is null.
func (s *structure) value(of any) reflect.Value {
	v := reflect.ValueOf(of)
	if v.Kind() != reflect.Pointer || v.Type().Elem() != s.goType {
		return s.zero
	}
	return v.Elem()
}

// names returns the names of the fields, sorted.
func (s *structure) names() []string {
	return slices.Sorted(maps.Keys(s.fields))
}

// object is a value with fields: a pointer into the pod, which is only read.
type object struct {
	unconvertible
	pointer any
	of      *structure
}

// Value returns the pointer, from which the fields are read.
func (o object) Value() any { return o.pointer }

// Type returns the type of the object.
func (o object) Type() ref.Type { return o.of.celType }

// Equal is never called, because rules.go refuses to compare objects.
func (object) Equal(ref.Val) ref.Val { return types.NewErr("objects cannot be compared") }

// unconvertible provides the conversions of a value that cannot be converted.
type unconvertible struct{}

// ConvertToNative fails.
func (unconvertible) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("the value cannot be converted to %v", t)
}

// ConvertToType fails.
func (unconvertible) ConvertToType(t ref.Type) ref.Val {
	return types.NewErr("the value cannot be converted to %s", t.TypeName())
}
