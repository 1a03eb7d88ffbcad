package condition

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// vocabulary holds all types whose fields expressions can name. It provides them to
// CEL, and converts values of Go to values of CEL.
type vocabulary struct {
	byName map[string]*structure
	byType map[reflect.Type]*structure

	// unknown are fields that CEL asked for and that do not exist. They are written
	// only while an expression is compiled, which is one at a time.
	unknown []unknownField
}

// unknownField is a field that a type does not have.
type unknownField struct {
	of    *structure
	field string
}

// newVocabulary finds all types that are reachable from the variables.
func newVocabulary() (*vocabulary, error) {
	v := &vocabulary{byName: map[string]*structure{}, byType: map[reflect.Type]*structure{}}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if _, err := v.structure(variables[name]); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// structure returns the structure of a Go type, and makes it on the first call.
func (v *vocabulary) structure(t reflect.Type) (*structure, error) {
	if s, ok := v.byType[t]; ok {
		return s, nil
	}
	name := t.Name()
	if other, taken := v.byName[name]; taken {
		return nil, fmt.Errorf("two types have the name %s: %v and %v", name, t, other.goType)
	}
	s := &structure{
		goType: t, zero: reflect.New(t).Elem(), celType: types.NewObjectType(name), fields: map[string]*types.FieldType{},
	}
	v.byName[name], v.byType[t] = s, s
	return s, v.addFields(s, t, nil)
}

// without returns the type that was asked for an unknown field, nil if there are
// several.
func (v *vocabulary) without(field string) *structure {
	var only *structure
	for _, u := range v.unknown {
		if u.field != field {
			continue
		}
		if only != nil && only != u.of {
			return nil
		}
		only = u.of
	}
	return only
}

// FindStructType returns the object type with a name.
func (v *vocabulary) FindStructType(name string) (*types.Type, bool) {
	s, ok := v.byName[name]
	if !ok {
		return nil, false
	}
	return types.NewTypeTypeWithParam(s.celType), true
}

// FindStructFieldNames returns the names of a type's fields, sorted.
func (v *vocabulary) FindStructFieldNames(name string) ([]string, bool) {
	s, ok := v.byName[name]
	if !ok {
		return nil, false
	}
	return s.names(), true
}

// FindStructFieldType returns a field of a type.
func (v *vocabulary) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	s, ok := v.byName[name]
	if !ok {
		return nil, false
	}
	f, ok := s.fields[field]
	if !ok {
		v.unknown = append(v.unknown, unknownField{of: s, field: field})
	}
	return f, ok
}

// FindIdent finds nothing: the names of types are not values in conditions.
func (*vocabulary) FindIdent(string) (ref.Val, bool) { return nil, false }

// EnumValue finds nothing.
func (*vocabulary) EnumValue(name string) ref.Val {
	return types.NewErr("there is no enumeration %s", name)
}

// NewValue returns an error: expressions cannot make objects.
func (*vocabulary) NewValue(name string, _ map[string]ref.Val) ref.Val {
	return types.NewErr("an object of type %s cannot be made", name)
}

// NativeToValue converts a value that was read from a field to a value of CEL.
func (v *vocabulary) NativeToValue(value any) ref.Val {
	switch value := value.(type) {
	case ref.Val:
		return value
	case bool:
		return types.Bool(value)
	case string:
		return types.String(value)
	case int:
		return types.Int(value)
	case int64:
		return types.Int(value)
	}
	if t := reflect.TypeOf(value); t != nil && t.Kind() == reflect.Pointer {
		if s, ok := v.byType[t.Elem()]; ok {
			return object{pointer: value, of: s}
		}
	}
	return types.NewErr("%T is no value of an expression", value)
}
