package sdk_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// load loads a plugin whose setup calls do, and which does nothing else.
func load(t *testing.T, settings map[string]any, do func()) {
	t.Helper()
	setup = func() error {
		do()
		return nil
	}
	defer func() { setup = nil }()
	policy = admit.Allow
	sdktest.Load(t, settings)
}

func TestSettingsAreThoseOfTheDocument(t *testing.T) {
	long := strings.Repeat("long ", 1000)
	load(t, map[string]any{
		"name": "x", "on": true, "max": 7, "empty": "", "none": []string{}, "long": long,
		"allow": []any{"a", "b"}, "at": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		"patterns":   map[string]string{"team": "a*", "app.kubernetes.io/name": "b"},
		"registries": map[string]any{"main": "r.example", "ports": map[string]any{"https": 443}},
	}, func() {
		for path, want := range map[string]string{
			"name": "x", "empty": "", "long": long, "registries.main": "r.example", "at": "2026-01-02T03:04:05Z",
			"patterns['app.kubernetes.io/name']": "b", "patterns.team": "a*",
		} {
			if got, ok := sdk.StringSetting(path); got != want || !ok {
				t.Errorf("%s: %q, %v", path, got, ok)
			}
		}
		if got, ok := sdk.BoolSetting("on"); !got || !ok {
			t.Errorf("on: %v, %v", got, ok)
		}
		if got, ok := sdk.IntSetting("max"); got != 7 || !ok {
			t.Errorf("max: %v, %v", got, ok)
		}
		if got, ok := sdk.IntSetting("registries.ports.https"); got != 443 || !ok {
			t.Errorf("registries.ports.https: %v, %v", got, ok)
		}
		if got, ok := sdk.StringsSetting("allow"); !slices.Equal(got, []string{"a", "b"}) || !ok {
			t.Errorf("allow: %q, %v", got, ok)
		}
		if got, ok := sdk.StringsSetting("none"); len(got) != 0 || !ok {
			t.Errorf("none: %q, %v", got, ok)
		}
		got, ok := sdk.MapSetting("patterns")
		if !maps.Equal(got, map[string]string{"team": "a*", "app.kubernetes.io/name": "b"}) || !ok {
			t.Errorf("patterns: %v, %v", got, ok)
		}
	})
}

func TestSettingsThatAreNotThereAreNoError(t *testing.T) {
	load(t, map[string]any{"table": map[string]any{"a": 1}}, func() {
		for _, path := range []string{"x", "table.b", "table.a.b", "a..b", "table[0]", "table[*]"} {
			if _, ok := sdk.StringSetting(path); ok {
				t.Errorf("%q is there", path)
			}
		}
		_, aBool := sdk.BoolSetting("x")
		_, anInt := sdk.IntSetting("x")
		_, strings := sdk.StringsSetting("x")
		_, aMap := sdk.MapSetting("x")
		if aBool || anInt || strings || aMap {
			t.Error("x is there")
		}
	})
}

func TestASettingOfAnotherTypeRefusesTheDocument(t *testing.T) {
	settings := map[string]any{
		"text": "true", "list": []any{"a", 1}, "number": 1.5, "table": map[string]any{"a": 1, "b": "x"},
	}
	for what, test := range map[string]struct {
		read func() bool
		want string
	}{
		"a bool in quotes": {
			func() bool { v, ok := sdk.BoolSetting("text"); return v || ok },
			"setting text must be a bool, but it is a string",
		},
		"a float for an integer": {
			func() bool { v, ok := sdk.IntSetting("number"); return v != 0 || ok },
			"setting number must be an integer, but it is a float",
		},
		"a string for a list": {
			func() bool { v, ok := sdk.StringsSetting("text"); return v != nil || ok },
			"setting text must be a list, but it is a string",
		},
		"a list of mixed types": {
			func() bool { v, ok := sdk.StringsSetting("list"); return v != nil || ok },
			"setting list must be a list of strings, but it holds an integer",
		},
		"a list for a string": {
			func() bool { v, ok := sdk.StringSetting("list"); return v != "" || ok },
			"setting list must be a string, but it is a list",
		},
		"a table of mixed types": {
			func() bool { v, ok := sdk.MapSetting("table"); return v != nil || ok },
			"setting table must be a map of strings, but it is a JSON value",
		},
	} {
		t.Run(what, func(t *testing.T) {
			setup = func() error {
				if test.read() {
					t.Error("the value was given")
				}
				return errors.New("a consequence that says less")
			}
			defer func() { setup = nil }()
			if got := sdktest.LoadError(t, settings); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
