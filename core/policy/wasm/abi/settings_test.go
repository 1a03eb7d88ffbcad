package abi

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
)

func sampleSettings() map[string]any {
	return map[string]any{
		"text": "x", "yes": true, "count": int64(-3), "ratio": 0.5, "plain": 7,
		"since":  time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		"list":   []any{"a", int64(1), []any{true}, map[string]any{"k": "v"}, map[string]any{"n": int64(2)}},
		"nested": map[string]any{"main": "r1", "a.b": "dotted", "deep": map[string]any{"on": true}},
		"tables": []map[string]any{{"name": "one"}},
		"texts":  map[string]any{"b": "2", "a": "1"}, "none": map[string]any{}, "empty": []any{},
	}
}

// settingAt returns the value at a path.
func settingAt(s Settings, path string) ([]byte, bool) {
	var (
		r    Record
		room PathSteps
	)
	ok := s.Lookup(&r, &room, path, 0)
	return r.Out, ok
}

func TestSettingsByPath(t *testing.T) {
	t.Parallel()
	s, err := CheckSettings(sampleSettings())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]any{
		"text": "x", "yes": true, "count": int64(-3), "ratio": 0.5, "plain": int64(7),
		"since":          "2026-01-02T03:04:05Z",
		"list":           []any{"a", int64(1), []any{true}, map[string]string{"k": "v"}, abitest.Raw(`{"n":2}`)},
		"nested.main":    "r1",
		"nested['a.b']":  "dotted",
		"nested.deep.on": true,
		"nested":         abitest.Raw(`{"a.b":"dotted","deep":{"on":true},"main":"r1"}`),
		"tables":         []any{map[string]string{"name": "one"}},
		"texts":          map[string]string{"b": "2", "a": "1"},
		"none":           map[string]string{},
		"empty":          []any{},
		"": abitest.Raw(`{"count":-3,"empty":[],"list":["a",1,[true],{"k":"v"},{"n":2}],` +
			`"nested":{"a.b":"dotted","deep":{"on":true},"main":"r1"},"none":{},"plain":7,"ratio":0.5,` +
			`"since":"2026-01-02T03:04:05Z","tables":[{"name":"one"}],"text":"x","texts":{"a":"1","b":"2"},"yes":true}`),
	} {
		value, ok := settingAt(s, path)
		if !ok {
			t.Errorf("%s is not there", path)
		} else if diff := cmp.Diff(want, abitest.ParseValue(t, value)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	for _, path := range []string{"absent", "text.x", "nested.absent", "nested.", "list[0]", "list[*]", "a b", "nested.a.b"} {
		if value, ok := settingAt(s, path); ok {
			t.Errorf("%q gives %v", path, value)
		}
	}
}

func TestSettingsThatNoGuestCouldReadAreRefused(t *testing.T) {
	t.Parallel()
	_, err := CheckSettings(map[string]any{
		"a": math.NaN(), "b": map[string]any{"c": []any{"x", math.Inf(1)}}, "d": struct{}{}, "fine": "x",
	})
	want := `settings.a: NaN is not supported in this version: write a finite number
settings.b.c[1]: +Inf is not supported in this version: write a finite number
settings.d: a value of type struct {} is not supported in this version`
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant %s", err, want)
	}
}

func TestEqualSettingsHaveOneDigest(t *testing.T) {
	t.Parallel()
	digest := func(table map[string]any) [32]byte {
		s, err := CheckSettings(table)
		if err != nil {
			t.Fatal(err)
		}
		return s.Digest()
	}
	if one, other := digest(sampleSettings()), digest(sampleSettings()); one != other {
		t.Error("equal settings have two digests")
	}
	seen := map[[32]byte]string{digest(nil): "none"}
	for name, table := range map[string]map[string]any{
		"a list":             {"a": []any{"x", "y"}},
		"another order":      {"a": []any{"y", "x"}},
		"an integer":         {"a": int64(1)},
		"a float":            {"a": 1.0},
		"a string":           {"a": "1"},
		"a table":            {"a": map[string]any{"b": int64(1)}},
		"a table of floats":  {"a": map[string]any{"b": 1.0}},
		"a dotted key":       {"a.b": int64(1)},
		"a quote in a key":   {"a\":1,\"b": int64(1)},
		"an empty table":     {"a": map[string]any{}},
		"an empty list":      {"a": []any{}},
		"two keys":           {"a": int64(1), "b": int64(1)},
		"a list of one list": {"a": []any{[]any{"x", "y"}}},
	} {
		d := digest(table)
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have the same digest", name, other)
		}
		seen[d] = name
	}
}

func TestSettingsAsJSON(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]any{
		`"a\"b\\c\u000a\u0000ü世"`: "a\"b\\c\n\x00ü世",
		`""`:                      "",
		"1":                       int64(1),
		"-9223372036854775808":    int64(math.MinInt64),
		"1.0":                     1.0,
		"-0.0":                    math.Copysign(0, -1),
		"0.1":                     0.1,
		"1e-07":                   1e-7,
		"100000000000000000000.0": 1e20,
		"1e+21":                   1e21,
		"1.7976931348623157e+308": math.MaxFloat64,
		"5e-324":                  math.SmallestNonzeroFloat64,
		"[]":                      []any{},
		"false":                   false,
		`[{"a":1,"b":{}},"x"]`:    []any{map[string]any{"b": map[string]any{}, "a": 1}, "x"},
	} {
		checked, err := checkSetting("x", value)
		if err != nil {
			t.Fatal(err)
		}
		got := appendSetting(nil, checked)
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
		if !json.Valid(got) {
			t.Errorf("not JSON: %s", got)
		}
	}
}

func TestSettingsOfNoTableAreEmpty(t *testing.T) {
	t.Parallel()
	s, err := CheckSettings(nil)
	if err != nil {
		t.Fatal(err)
	}
	if value, ok := settingAt(s, ""); !ok || abitest.ParseValue(t, value) != abitest.Raw("{}") {
		t.Errorf("%q, %v", value, ok)
	}
}

// TestSettingsAreLookedUpWithoutAllocation matters because a plugin may look up a setting in
// every call.
func TestSettingsAreLookedUpWithoutAllocation(t *testing.T) {
	s, err := CheckSettings(sampleSettings())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "text", "list", "nested['a.b']", "nested", "texts", "absent"} {
		var (
			r    Record
			room PathSteps
		)
		if n := testing.AllocsPerRun(100, func() {
			r.begin()
			s.Lookup(&r, &room, path, 0)
		}); n > 0 {
			t.Errorf("%q: %v allocations", path, n)
		}
	}
}
