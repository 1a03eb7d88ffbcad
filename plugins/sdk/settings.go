package sdk

import (
	"maps"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// A setting is named by its path in [settings] of the policy document, tables
// and keys joined by dots: "allow", "registries.main". One that is there but
// of another type than asked for makes setup, or the call, fail: a policy must
// not go on as if it had been left out. Package settings decodes the whole
// table into a struct, and refuses what is in neither.

// StringSetting is a setting that is a string; false if it is not there.
func StringSetting(path string) (value string, ok bool) {
	v, ok := setting(path, record.String)
	if !ok {
		return "", false
	}
	return v.Text(), true
}

// BoolSetting is a setting that is a bool; false if it is not there.
func BoolSetting(path string) (value, ok bool) {
	v, ok := setting(path, record.Bool)
	return ok && v.Bool(), ok
}

// IntSetting is a setting that is an integer; false if it is not there.
func IntSetting(path string) (value int64, ok bool) {
	v, ok := setting(path, record.Int)
	if !ok {
		return 0, false
	}
	return v.Int(), true
}

// StringsSetting is a setting that is a list of strings; false if it is not
// there. A list that is there may be empty.
func StringsSetting(path string) (values []string, ok bool) {
	v, ok := setting(path, record.List)
	if !ok {
		return nil, false
	}
	values = make([]string, 0, v.Len())
	for element := range v.Elements() {
		if !element.Is(record.String) {
			guest.Fault("setting " + path + " must be a list of strings, but it holds " + element.Kind().String())
			return nil, false
		}
		values = append(values, element.Text())
	}
	return values, true
}

// MapSetting is a setting that is a table of strings; false if it is not
// there. A table that is there may be empty.
func MapSetting(path string) (values map[string]string, ok bool) {
	v, ok := setting(path, record.Map)
	if !ok {
		return nil, false
	}
	return maps.Collect(v.Entries()), true
}

// setting asks the agent for a setting of a kind.
func setting(path string, k record.Kind) (v record.Value, ok bool) {
	v, ok, err := guest.Setting(path)
	switch {
	case err != nil:
		guest.Fault("setting " + path + ": " + err.Error())
	case !ok:
	case v.Kind() != k:
		guest.Fault("setting " + path + " must be " + k.String() + ", but it is " + v.Kind().String())
	default:
		return v, true
	}
	return record.Value{}, false
}
