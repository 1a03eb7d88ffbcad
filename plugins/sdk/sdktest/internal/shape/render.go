package shape

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Render returns the JSON text that the agent makes of a checked value of type t. Fields
// are in the order of the API. A field that is not optional is written even if the pod does
// not have it.
func Render(value any, t *Type) ([]byte, error) {
	var text bytes.Buffer
	err := render(&text, value, t)
	return text.Bytes(), err
}

func render(text *bytes.Buffer, value any, t *Type) error {
	switch t.Kind {
	case Pointer:
		if value != nil {
			return render(text, value, t.Elem)
		}
	case Struct:
		return renderStruct(text, value, t)
	case List:
		if list, ok := value.([]any); ok {
			return renderList(text, list, t.Elem)
		}
	case Map:
		if object, ok := value.(map[string]any); ok {
			return renderMap(text, object, t.Elem)
		}
	default:
		return renderScalar(text, value, t.Kind)
	}
	text.WriteString("null")
	return nil
}

func renderStruct(text *bytes.Buffer, value any, t *Type) error {
	object, _ := value.(map[string]any)
	text.WriteByte('{')
	first := true
	for _, f := range t.Fields {
		inner := object[f.Name]
		if f.OmitEmpty && isEmpty(inner, f.Type) || f.OmitZero && inner == nil {
			continue
		}
		if !first {
			text.WriteByte(',')
		}
		first = false
		text.WriteString(strconv.Quote(f.Name) + ":")
		if err := render(text, inner, f.Type); err != nil {
			return err
		}
	}
	text.WriteByte('}')
	return nil
}

// isEmpty reports whether encoding/json treats a value as empty.
func isEmpty(value any, t *Type) bool {
	switch t.Kind {
	case Struct, Time, Quantity, IntOrString, JSON:
		return false
	case Pointer:
		return value == nil
	}
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case bool:
		return !value
	case int64:
		return value == 0
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return false
}

func renderList(text *bytes.Buffer, list []any, t *Type) error {
	text.WriteByte('[')
	for i, element := range list {
		if i > 0 {
			text.WriteByte(',')
		}
		if err := render(text, element, t); err != nil {
			return err
		}
	}
	text.WriteByte(']')
	return nil
}

func renderMap(text *bytes.Buffer, object map[string]any, t *Type) error {
	text.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			text.WriteByte(',')
		}
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		text.Write(append(name, ':'))
		if err := render(text, object[key], t); err != nil {
			return err
		}
	}
	text.WriteByte('}')
	return nil
}

// renderScalar writes a value of a kind without elements. If there is no value, it writes
// zero, as the API does.
func renderScalar(text *bytes.Buffer, value any, k Kind) error {
	if value == nil {
		switch k {
		case String:
			value = ""
		case Bool:
			value = false
		case Int32, Int64, IntOrString:
			value = 0
		case Quantity:
			value = "0"
		}
	}
	written, err := json.Marshal(value)
	text.Write(written)
	return err
}
