package main

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

func TestBadSettingsAreRefused(t *testing.T) {
	of := func(sources ...string) map[string]any { return map[string]any{"order": sources} }
	for what, test := range map[string]struct {
		settings map[string]any
		want     string
	}{
		"none":                     {nil, "settings.order must list at least one source"},
		"an empty order":           {of(), "setting order must list at least one source"},
		"one of a namespace":       {map[string]any{"order": usual, "namespaces": map[string]any{"shop": []string{}}}, "setting namespaces.shop must list at least one source"},
		"one string, not a list":   {map[string]any{"order": "api"}, "setting order must be a list, but it is a string"},
		"a kind that is none":      {of("static"), `setting order has "static": want a kind of sources, file, http or api`},
		"a name without a kind":    {of("api", "emergency"), `setting order has "emergency"`},
		"an empty name":            {of("file:"), `setting order has "file:"`},
		"what can be no name":      {of("file:My Source"), `setting order has "file:My Source"`},
		"a source twice":           {of("api", "file", "api"), `setting order has "api" after "api", which is for it too`},
		"a source after its kind":  {of("file", "file:emergency"), `setting order has "file:emergency" after "file", which is for it too`},
		"a glob after a wider one": {of("http:e*", "http:edge-*"), `setting order has "http:edge-*" after "http:e*"`},
		"what can be no namespace": {map[string]any{"namespaces": map[string]any{"a.b": []string{"api"}}}, "setting namespaces['a.b'] can be of no namespace"},
		"a typing mistake":         {map[string]any{"order": usual, "stiky": true}, "there is no setting stiky: did you mean sticky?"},
		"sticky as a text":         {map[string]any{"order": usual, "sticky": "yes"}, "setting sticky must be a bool, but it is a string"},
		"confirmed as a number":    {map[string]any{"order": usual, "prefer_confirmed": 1}, "setting prefer_confirmed must be a bool"},
		"namespaces as a list":     {map[string]any{"order": usual, "namespaces": usual}, "setting namespaces must be a table"},
	} {
		if got := sdktest.LoadError(t, test.settings); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", what, got, test.want)
		}
	}
}
