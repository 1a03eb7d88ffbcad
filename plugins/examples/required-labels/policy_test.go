package main

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

func labelled(labels map[string]string) sdktest.Request {
	return sdktest.Request{Pod: map[string]any{"metadata": map[string]any{"name": "web", "labels": labels}}}
}

var usual = map[string]any{
	"required": []string{"team", "example.org/stage"},
	"patterns": map[string]string{"example.org/stage": "prod|test-*", "tier": "*-end"},
}

func TestLabelsMustBeThereAndMatch(t *testing.T) {
	for name, test := range map[string]struct {
		labels map[string]string
		want   sdktest.Answer
		say    string
	}{
		"all as they must be":               {map[string]string{"team": "shop", "example.org/stage": "prod", "tier": "front-end"}, sdktest.Allow, ""},
		"one that is only checked left out": {map[string]string{"team": "shop", "example.org/stage": "test-7"}, sdktest.Allow, ""},
		"others do not matter":              {map[string]string{"team": "shop", "example.org/stage": "prod", "x": "y"}, sdktest.Allow, ""},
		"no labels at all":                  {nil, sdktest.Deny, `label "example.org/stage" is missing, it must be "prod|test-*"; label "team" is missing`},
		"one missing":                       {map[string]string{"example.org/stage": "prod"}, sdktest.Deny, `label "team" is missing`},
		"one empty":                         {map[string]string{"team": "", "example.org/stage": "prod"}, sdktest.Deny, `label "team" is empty`},
		"another case of the key":           {map[string]string{"Team": "shop", "example.org/stage": "prod"}, sdktest.Deny, `label "team" is missing`},
		"a value that does not match": {
			map[string]string{"team": "shop", "example.org/stage": "production"},
			sdktest.Deny,
			`label "example.org/stage" is "production", it must be "prod|test-*"`,
		},
		"another case of the value": {map[string]string{"team": "shop", "example.org/stage": "PROD"}, sdktest.Deny, `is "PROD"`},
		"a name without its prefix": {map[string]string{"team": "shop", "stage": "prod"}, sdktest.Deny, `label "example.org/stage" is missing`},
		"an optional label that does not match": {
			map[string]string{"team": "shop", "example.org/stage": "prod", "tier": "middle"}, sdktest.Deny, `label "tier" is "middle", it must be "*-end"`,
		},
		"an optional label that is empty": {
			map[string]string{"team": "shop", "example.org/stage": "prod", "tier": ""}, sdktest.Deny, `label "tier" is ""`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := sdktest.Load(t, usual).Admit(t, labelled(test.labels))
			if got.Answer != test.want || !strings.Contains(got.Message, test.say) {
				t.Errorf("got %+v, want %s: %s", got, test.want, test.say)
			}
			if code := got.Code; got.Answer == sdktest.Deny && code != "RequiredLabels" {
				t.Errorf("code %s", code)
			}
		})
	}
}

func TestTheEffectCanBeHold(t *testing.T) {
	for effect, want := range map[string]sdktest.Answer{"hold": sdktest.Hold, "deny": sdktest.Deny} {
		p := sdktest.Load(t, map[string]any{"required": []string{"team"}, "effect": effect})
		got := p.Admit(t, labelled(nil))
		if got.Answer != want || got.Code != "RequiredLabels" || got.Message != `label "team" is missing` {
			t.Errorf("%s: %+v", effect, got)
		}
		if got := p.Admit(t, labelled(map[string]string{"team": "x"})); got.Answer != sdktest.Allow {
			t.Errorf("%s: %+v", effect, got)
		}
	}
}

func TestTheExplanationNamesEveryLabelThatCounts(t *testing.T) {
	got := sdktest.Load(t, usual).Admit(t, labelled(map[string]string{"team": "shop", "other": "x", "tier": "back-end"}))
	want := `label "example.org/stage" is missing, it must be "prod|test-*"` + "\n" + `label "team" is "shop"` + "\n" + `label "tier" is "back-end"`
	if got.Explanation != want {
		t.Errorf("got %q, want %q", got.Explanation, want)
	}
}

func TestPatternsAloneAreEnough(t *testing.T) {
	p := sdktest.Load(t, map[string]any{"patterns": map[string]string{"team": "shop"}})
	if got := p.Admit(t, labelled(nil)); got.Answer != sdktest.Allow {
		t.Errorf("got %+v", got)
	}
	if got := p.Admit(t, labelled(map[string]string{"team": "x"})); got.Answer != sdktest.Deny {
		t.Errorf("got %+v", got)
	}
}

func TestBadSettingsAreRefused(t *testing.T) {
	team := []string{"team"}
	for what, test := range map[string]struct {
		settings map[string]any
		want     string
	}{
		"none":                      {nil, "settings.required must list at least one label"},
		"empty ones":                {map[string]any{"required": []string{}, "patterns": map[string]string{}}, "settings.required must list"},
		"a string for a list":       {map[string]any{"required": "team"}, "setting required must be a list"},
		"another effect":            {map[string]any{"required": team, "effect": "warn"}, `must be "deny" or "hold", not "warn"`},
		"a typing mistake":          {map[string]any{"require": team}, "there is no setting require: did you mean required?"},
		"an empty effect":           {map[string]any{"required": team, "effect": ""}, `must be "deny" or "hold"`},
		"a list for the effect":     {map[string]any{"required": team, "effect": team}, "setting effect must be a string"},
		"what can be no label":      {map[string]any{"required": []string{"team", "my team"}}, `"my team" is no label`},
		"a pattern for no label":    {map[string]any{"patterns": map[string]string{"-x": "a"}}, `"-x" is no label`},
		"a regular expression":      {map[string]any{"required": team, "patterns": map[string]string{"team": "^[a-z]+$"}}, `label "team": "^[a-z]+$" can match no value`},
		"an empty pattern":          {map[string]any{"required": team, "patterns": map[string]string{"team": ""}}, `"" can match no value`},
		"an empty alternative":      {map[string]any{"required": team, "patterns": map[string]string{"team": "a|"}}, `"" can match no value`},
		"a pattern that is a list":  {map[string]any{"required": team, "patterns": map[string]any{"team": team}}, "setting patterns must be a map of strings"},
		"a value that is too long":  {map[string]any{"patterns": map[string]string{"team": strings.Repeat("a", 64)}}, "can match no value"},
		"a prefix in capitals":      {map[string]any{"required": []string{"Example.org/team"}}, "is no label"},
		"a prefix that is no name":  {map[string]any{"required": []string{"example..org/team"}}, "is no label"},
		"two slashes":               {map[string]any{"required": []string{"a/b/c"}}, "is no label"},
		"an empty name":             {map[string]any{"required": []string{"example.org/"}}, "is no label"},
		"a name of 64 characters":   {map[string]any{"required": []string{strings.Repeat("a", 64)}}, "is no label"},
		"a name with a dash at end": {map[string]any{"required": []string{"team-"}}, "is no label"},
	} {
		if got := sdktest.LoadError(t, test.settings); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", what, got, test.want)
		}
	}
}

func TestValuesMatchOneOfTheAlternatives(t *testing.T) {
	for pattern, values := range map[string]struct{ yes, no []string }{
		"web":       {[]string{"web"}, []string{"", "we", "webb", "Web"}},
		"web|db":    {[]string{"web", "db"}, []string{"webdb", "web|db", ""}},
		"team-*":    {[]string{"team-", "team-a"}, []string{"team", "xteam-a"}},
		"*":         {[]string{"", "anything"}, nil},
		"*.a|b*b|c": {[]string{"x.a", "bb", "b-b", "c"}, []string{"xa", "b", "cc"}},
	} {
		v, err := parseValues(pattern)
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		for want, names := range map[bool][]string{true: values.yes, false: values.no} {
			for _, name := range names {
				if got := v.match(name); got != want {
					t.Errorf("%s, %q: %v", pattern, name, got)
				}
			}
		}
	}
}

// FuzzValues checks that every accepted alternative matches its own text without the stars.
func FuzzValues(f *testing.F) {
	f.Add("prod|test-*")
	f.Add("*.a|b*b|c")
	f.Fuzz(func(t *testing.T, pattern string) {
		v, err := parseValues(pattern)
		if err != nil {
			return
		}
		for alternative := range strings.SplitSeq(pattern, "|") {
			if name := strings.ReplaceAll(alternative, "*", ""); !v.match(name) {
				t.Errorf("%q does not match %q", pattern, name)
			}
		}
	})
}
