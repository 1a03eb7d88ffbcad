package sdk

import (
	"maps"

	"github.com/wardlet/wardlet/plugins/sdk/internal/guest"
	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
)

// The following functions read single settings. A setting is named by its path in
// [settings] of the policy document: the names of tables and the key, joined by dots, such
// as "allow" or "registries.main". If a setting has another type than the function reads,
// setup or the call fails, because a policy must not continue as if the setting were
// missing. Package settings decodes the whole table into a struct, and refuses settings
// that the struct does not have.

// StringSetting returns a setting that is a string, and false if it is not set.
func StringSetting(path string) (value string, ok bool) {
	v, ok := setting(path, record.String)
	if !ok {
		return "", false
	}
	return v.Text(), true
}

// BoolSetting returns a setting that is a bool, and false if it is not set.
func BoolSetting(path string) (value, ok bool) {
	v, ok := setting(path, record.Bool)
	return ok && v.Bool(), ok
}

// IntSetting returns a setting that is an integer, and false if it is not set.
func IntSetting(path string) (value int64, ok bool) {
	v, ok := setting(path, record.Int)
	if !ok {
		return 0, false
	}
	return v.Int(), true
}

// StringsSetting returns a setting that is a list of strings, and false if it is not set. A
// list that is set may be empty.
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

// MapSetting returns a setting that is a table of strings, and false if it is not set. A
// table that is set may be empty.
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
