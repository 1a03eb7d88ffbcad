//go:build !wasip1

package sdktest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/projection"
)

// float is a floating-point number of a policy document.
type float float64

// MarshalJSON writes the float with a point or an exponent, as the agent does, so that it
// is not read as an integer.
func (f float) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(float64(f))
	if err == nil && !bytes.ContainsAny(text, ".e") {
		text = append(text, ".0"...)
	}
	return text, err
}

// plainTable returns settings in the types that TOML has: string, bool, int64, float, []any
// and map[string]any. path is the path of the table, for errors.
func plainTable(path string, table map[string]any) (map[string]any, error) {
	plain := make(map[string]any, len(table))
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(table)) {
		value, err := plainSetting(path+"."+key, table[key])
		plain[key] = value
		faults = append(faults, err)
	}
	return plain, errors.Join(faults...)
}

func plainSetting(path string, value any) (any, error) {
	if t, ok := value.(time.Time); ok {
		return t.Format(time.RFC3339Nano), nil
	}
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.String:
		return v.String(), nil
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), nil
	case reflect.Float64:
		if f := v.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return float(f), nil
		}
	case reflect.Slice:
		list := make([]any, v.Len())
		var faults []error
		for i := range list {
			var err error
			list[i], err = plainSetting(fmt.Sprintf("%s[%d]", path, i), v.Index(i).Interface())
			faults = append(faults, err)
		}
		return list, errors.Join(faults...)
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String {
			table := make(map[string]any, v.Len())
			for key, value := range v.Seq2() {
				table[key.String()] = value.Interface()
			}
			return plainTable(path, table)
		}
	}
	return nil, fmt.Errorf("%s: %v (%T) is nothing a policy document can hold", path, value, value)
}

// lookup returns the setting at a path of names and keys.
func lookup(settings map[string]any, path string) (value any, ok bool) {
	segments, err := projection.ParsePath(path)
	if err != nil {
		return nil, false
	}
	value = settings
	for _, s := range segments {
		name, ok := s.Name()
		table, isTable := value.(map[string]any)
		if !ok || !isTable {
			return nil, false
		}
		if value, ok = table[name]; !ok {
			return nil, false
		}
	}
	return value, true
}

func writeSetting(w *record.Writer, value any) (err error) {
	switch value := value.(type) {
	case string:
		w.String(value)
	case bool:
		w.Bool(value)
	case int64:
		w.Int(value)
	case float:
		w.Float(float64(value))
	case []any:
		w.List(len(value), func(i int) { err = errors.Join(err, writeSetting(w, value[i])) })
	case map[string]any:
		texts := make(map[string]string, len(value))
		for key, entry := range value {
			text, ok := entry.(string)
			if !ok {
				text, err := json.Marshal(value)
				w.JSON(text)
				return err
			}
			texts[key] = text
		}
		w.Map(texts)
	}
	return err
}
