package main

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

func TestBadSettingsAreRefused(t *testing.T) {
	of := func(key string, value any) map[string]any {
		return map[string]any{"quota": map[string]any{"shop": map[string]any{"pods": 1, key: value}}}
	}
	for what, test := range map[string]struct {
		settings map[string]any
		want     string
	}{
		"none":                         {nil, "settings.quota must have at least one table"},
		"no quota":                     {map[string]any{"quota": map[string]any{}}, "settings.quota must have at least one table"},
		"a quota of nothing":           {map[string]any{"quota": map[string]any{"shop": map[string]any{"each": true}}}, "setting quota.shop bounds nothing: set cpu, memory or pods"},
		"another effect":               {map[string]any{"effect": "warn", "quota": usual["quota"]}, `setting effect must be "hold" or "deny", not "warn"`},
		"a typing mistake":             {map[string]any{"quotas": map[string]any{}}, "there is no setting quotas: did you mean quota?"},
		"one in a quota":               {of("pod", 1), "there is no setting quota.shop.pod: did you mean quota.shop.pods?"},
		"a number for an amount":       {of("cpu", 4), "setting quota.shop.cpu must be a string, but it is an integer"},
		"no amount":                    {of("cpu", "four"), `setting quota.shop.cpu must be an amount such as "4" or "500m", not "four"`},
		"a unit that is none":          {of("memory", "8GB"), `setting quota.shop.memory must be an amount such as "8Gi" or "512Mi", not "8GB"`},
		"less than no pods":            {of("pods", -1), "setting quota.shop.pods must not be negative"},
		"pods as a text":               {of("pods", "10"), "setting quota.shop.pods must be an integer, but it is a string"},
		"no namespaces":                {of("namespaces", []string{}), "setting quota.shop.namespaces must list at least one namespace"},
		"what can be no namespace":     {of("namespaces", []string{"shop", "My Shop"}), `setting quota.shop.namespaces has "My Shop", which can match no namespace`},
		"an exception that is none":    {of("except", []string{"a.b"}), `setting quota.shop.except has "a.b", which can match no namespace`},
		"a name that is no namespace":  {map[string]any{"quota": map[string]any{"Tenant A": map[string]any{"pods": 1}}}, "setting quota['Tenant A'] is named like no namespace"},
		"a namespace that is too long": {of("except", []string{strings.Repeat("a", 64)}), "which can match no namespace"},
		"a quota that is no table":     {map[string]any{"quota": map[string]any{"shop": 3}}, "setting quota.shop must be a table, but it is an integer"},
		"a list of quotas":             {map[string]any{"quota": []any{}}, "setting quota must be a table, but it is a list"},
	} {
		if got := sdktest.LoadError(t, test.settings, sdktest.NodeRead); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", what, got, test.want)
		}
	}
}

func TestAQuotaWithNamespacesMayHaveAnyName(t *testing.T) {
	sdktest.Load(t, map[string]any{"quota": map[string]any{"Tenant A": map[string]any{"namespaces": []string{"a-*", "*"}, "pods": 1}}}, sdktest.NodeRead)
}
