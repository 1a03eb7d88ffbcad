package settings

import (
	"reflect"
	"unsafe"
)

// wanted returns what a setting must be to be decoded into a variable of a type.
func wanted(t reflect.Type) string {
	switch k := t.Kind(); {
	case k == reflect.String:
		return "a string"
	case k == reflect.Bool:
		return "a bool"
	case k == reflect.Float64:
		return "a float"
	case reflect.Int <= k && k <= reflect.Uint64:
		return "an integer"
	case k == reflect.Slice:
		if of := several(t.Elem()); of != "" {
			return "a list of " + of
		}
		return "a list"
	case k == reflect.Map:
		if of := several(t.Elem()); of != "" {
			return "a table of " + of
		}
	}
	return "a table"
}

func several(t reflect.Type) string {
	switch wanted(t) {
	case "a string":
		return "strings"
	case "a bool":
		return "bools"
	case "a float":
		return "floats"
	case "an integer":
		return "integers"
	case "a table":
		return "tables"
	}
	return "lists"
}

// supported reports whether a setting can be decoded into a variable of a type.
func supported(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.String, reflect.Bool, reflect.Float64, reflect.Struct:
		return true
	case reflect.Pointer:
		return variable(t.Elem()) != nil
	case reflect.Slice:
		return t.Elem().Kind() != reflect.Pointer && supported(t.Elem())
	case reflect.Map:
		return t.Key().Kind() == reflect.String && mapped(t.Elem())
	default:
		return reflect.Int <= k && k <= reflect.Uint64
	}
}

// mapped reports whether maps with values of a type are supported.
func mapped(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Int64:
		return true
	case reflect.Slice:
		return t.Elem().Kind() == reflect.String
	}
	return false
}

// variable makes a variable of a type for a pointer to point to. It returns nil if the type
// is not supported.
func variable(t reflect.Type) unsafe.Pointer {
	switch t.Kind() {
	case reflect.String:
		return unsafe.Pointer(new(string))
	case reflect.Bool:
		return unsafe.Pointer(new(bool))
	case reflect.Int64:
		return unsafe.Pointer(new(int64))
	case reflect.Float64:
		return unsafe.Pointer(new(float64))
	}
	return nil
}
