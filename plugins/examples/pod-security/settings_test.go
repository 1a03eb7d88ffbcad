package main

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

func TestBadSettingsAreRefused(t *testing.T) {
	with := func(key string, value any) map[string]any { return map[string]any{"level": "baseline", key: value} }
	for what, test := range map[string]struct {
		settings map[string]any
		want     string
	}{
		"no settings":                   {nil, `settings.level is missing: want "restricted", "baseline" or "privileged"`},
		"another level":                 {map[string]any{"level": "Restricted"}, `settings.level must be "restricted", "baseline" or "privileged", not "Restricted"`},
		"a level that is no text":       {map[string]any{"level": 1}, "setting level must be a string"},
		"a version without v":           {with("version", "1.30"), `settings.version must be "latest" or a version such as "v1.30", not "1.30"`},
		"a version with a patch":        {with("version", "v1.30.1"), "settings.version must be"},
		"a version with a zero":         {with("version", "v1.030"), "settings.version must be"},
		"a version of another number":   {with("version", "v2.0"), "settings.version must be"},
		"a version without minor":       {with("version", "v1."), "settings.version must be"},
		"a version beyond all":          {with("version", "v1.12345"), "settings.version must be"},
		"an empty version":              {with("version", ""), "settings.version must be"},
		"a version that is a number":    {with("version", 1.3), "setting version must be a string"},
		"a pattern of namespaces":       {with("namespaces", map[string]any{"team-*": "baseline"}), `settings.namespaces has "team-*", which is the name of no namespace`},
		"an empty namespace":            {with("namespaces", map[string]any{"": "baseline"}), "name of no namespace"},
		"a namespace with a dash":       {with("namespaces", map[string]any{"a-": "baseline"}), "name of no namespace"},
		"a namespace with a dash first": {with("namespaces", map[string]any{"-a": "baseline"}), "name of no namespace"},
		"a namespace of no level":       {with("namespaces", map[string]any{"a": "strict"}), `settings.namespaces.a must be a level, with or without version, such as "baseline" or "baseline:v1.30", not "strict"`},
		"a namespace of no version":     {with("namespaces", map[string]any{"a": "baseline:"}), "settings.namespaces.a must be a level"},
		"a namespace with a table":      {with("namespaces", map[string]any{"a": map[string]any{"level": "baseline"}}), "setting namespaces must be"},
		"a class that is a string":      {with("exempt_runtime_classes", "kata"), "setting exempt_runtime_classes must be a list"},
		"an empty class":                {with("exempt_runtime_classes", []string{""}), "settings.exempt_runtime_classes has an empty name"},
		"a typing mistake":              {with("namespace", "a"), "there is no setting namespace: did you mean namespaces?"},
	} {
		if got := sdktest.LoadError(t, test.settings); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", what, got, test.want)
		}
	}
}

func TestEveryVersionOfKubernetesIsOne(t *testing.T) {
	for version, want := range map[string]int{"latest": newest, "v1.0": 0, "v1.9": 9, "v1.35": 35, "v1.36": 36, "v1.9999": 9999} {
		if got, ok := parseVersion(version); got != want || !ok {
			t.Errorf("%s: %d, %v", version, got, ok)
		}
	}
}

func TestKeysAreThoseOfTheOuterObject(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":{"b":1},"c":["d",{"e":"f"}],"g":"h"}`: "a c g",
		`{ "a" : "b\"c\\" , "d" : null }`:           "a d",
		`{"a":"{","b":"}"}`:                         "a b",
		`{}`:                                        "", ``: "", `{"a`: "", `{"a"`: "", `"a":1`: "",
	} {
		var got []string
		k := keys{text: []byte(text)}
		for key := k.next(); key != ""; key = k.next() {
			got = append(got, key)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
