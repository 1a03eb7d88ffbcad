package projection

import (
	"fmt"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/shape"
)

// whole makes the step that writes a value of type t at the end of a path. An empty list or
// map is written as missing. If the field is optional, an empty string or a zero number is
// missing, too. A bool is always written.
func whole(t *shape.Type, optional bool) step {
	return step{write: func(w *record.Writer, value any) error { return writeWhole(w, value, t, optional) }}
}

func writeWhole(w *record.Writer, value any, t *shape.Type, optional bool) error {
	switch t.Kind {
	case shape.String, shape.Time:
		text, _ := value.(string)
		if text == "" && (optional || t.Kind == shape.Time) {
			w.Missing()
		} else {
			w.String(text)
		}
	case shape.Bool:
		b, _ := value.(bool)
		w.Bool(b)
	case shape.Int32, shape.Int64:
		n, _ := value.(int64)
		if n == 0 && optional {
			w.Missing()
		} else {
			w.Int(n)
		}
	case shape.Quantity:
		if value == nil {
			value = "0"
		}
		w.String(value.(string))
	case shape.IntOrString:
		if text, ok := value.(string); ok {
			w.String(text)
		} else {
			n, _ := value.(int64)
			w.Int(n)
		}
	case shape.List:
		return writeList(w, value, t)
	case shape.Map:
		return writeMap(w, value, t)
	case shape.Struct, shape.JSON:
		return writeJSON(w, value, t)
	default:
		return fmt.Errorf("values of type %s are not supported in this version", t.Kind)
	}
	return nil
}

func writeList(w *record.Writer, value any, t *shape.Type) error {
	list, _ := value.([]any)
	if len(list) == 0 {
		w.Missing()
		return nil
	}
	return each(w, len(list), func(i int) error { return writeWhole(w, list[i], t.Elem, false) })
}

func writeMap(w *record.Writer, value any, t *shape.Type) error {
	object, _ := value.(map[string]any)
	if len(object) == 0 {
		w.Missing()
		return nil
	}
	if t.Elem.Kind != shape.String {
		return writeJSON(w, value, t)
	}
	texts := make(map[string]string, len(object))
	for key, value := range object {
		texts[key], _ = value.(string)
	}
	w.Map(texts)
	return nil
}

func writeJSON(w *record.Writer, value any, t *shape.Type) error {
	text, err := shape.Render(value, t)
	if err != nil {
		return err
	}
	w.JSON(text)
	return nil
}
