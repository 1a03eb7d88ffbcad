package wasm

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// settings are the [settings] of a policy, as TOML decoded them.
type settings map[string]any

// checked gives a copy of the settings in the few types that encode knows.
func checkedSettings(table map[string]any) (settings, error) {
	checked, err := checkTable("settings", table)
	return checked, err
}

func checkTable(path string, table map[string]any) (map[string]any, error) {
	checked := make(map[string]any, len(table))
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(table)) {
		value, err := checkSetting(path+"."+key, table[key])
		checked[key] = value
		faults = append(faults, err)
	}
	return checked, errors.Join(faults...)
}

func checkSetting(path string, value any) (any, error) {
	switch v := value.(type) {
	case string, bool, int64:
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: %v is not supported in this version: write a finite number", path, v)
		}
		return v, nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case map[string]any:
		return checkTable(path, v)
	case []map[string]any:
		return checkList(path, v)
	case []any:
		return checkList(path, v)
	}
	return nil, fmt.Errorf("%s: a value of type %T is not supported in this version", path, value)
}

func checkList[T any](path string, list []T) (any, error) {
	checked := make([]any, len(list))
	var faults []error
	for i := range list {
		value, err := checkSetting(fmt.Sprintf("%s[%d]", path, i), list[i])
		checked[i] = value
		faults = append(faults, err)
	}
	return checked, errors.Join(faults...)
}

// lookup appends the value at a path of names and keys, if there is one.
func (s settings) lookup(out []byte, path string) (value []byte, ok bool) {
	segments, err := parsePath(path)
	if err != nil {
		return nil, false
	}
	var at any = map[string]any(s)
	for _, segment := range segments {
		table, ok := at.(map[string]any)
		if !ok || segment.kind != segmentField && segment.kind != segmentKey {
			return nil, false
		}
		if at, ok = table[segment.name]; !ok {
			return nil, false
		}
	}
	r := record{out: out}
	r.setting(at)
	return r.out, r.err == nil
}

func (r *record) setting(value any) {
	switch v := value.(type) {
	case string:
		r.text(v)
	case bool:
		r.boolean(v)
	case int64:
		r.integer(v)
	case float64:
		r.float(v)
	case []any:
		begin := r.list(len(v))
		for _, element := range v {
			r.setting(element)
		}
		r.end(begin)
	case map[string]any:
		if texts, ok := allTexts(v); ok {
			r.texts(texts)
		} else {
			r.json(v)
		}
	}
}

func allTexts(table map[string]any) (map[string]string, bool) {
	texts := make(map[string]string, len(table))
	for key, value := range table {
		text, ok := value.(string)
		if !ok {
			return nil, false
		}
		texts[key] = text
	}
	return texts, true
}

// digest identifies the settings.
func (s settings) digest() [sha256.Size]byte {
	var r record
	r.setting(map[string]any(s))
	return sha256.Sum256(r.out)
}
