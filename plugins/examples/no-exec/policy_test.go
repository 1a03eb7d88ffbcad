package main

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var usual = map[string]any{"namespaces": []string{"debug", "dev-*"}, "users": []string{"sre-*"}}

func requested(namespace string, c sdktest.Connection) sdktest.Request {
	return sdktest.Request{Pod: map[string]any{"metadata": map[string]any{"namespace": namespace}}, Connection: &c}
}

func TestJudge_forbidsButWhatIsListed(t *testing.T) {
	for name, test := range map[string]struct {
		settings  map[string]any
		namespace string
		requested sdktest.Connection
		want      sdktest.Answer
	}{
		"an exec":                            {usual, "shop", sdktest.Connection{User: "alice"}, sdktest.Deny},
		"an attach":                          {usual, "shop", sdktest.Connection{Kind: "attach", User: "alice"}, sdktest.Deny},
		"a port-forward is not a default":    {usual, "shop", sdktest.Connection{Kind: "portforward", User: "alice"}, sdktest.Abstain},
		"a kind that is listed":              {map[string]any{"kinds": []string{"portforward"}}, "shop", sdktest.Connection{Kind: "portforward"}, sdktest.Deny},
		"and others are not then":            {map[string]any{"kinds": []string{"portforward"}}, "shop", sdktest.Connection{}, sdktest.Abstain},
		"a namespace that is listed":         {usual, "debug", sdktest.Connection{User: "alice"}, sdktest.Allow},
		"a namespace by a pattern":           {usual, "dev-7", sdktest.Connection{User: "alice"}, sdktest.Allow},
		"a namespace that begins like it":    {usual, "debugging", sdktest.Connection{User: "alice"}, sdktest.Deny},
		"a user that is listed":              {usual, "shop", sdktest.Connection{User: "sre-ana"}, sdktest.Allow},
		"but not by that name on the socket": {usual, "shop", sdktest.Connection{Source: "socket", User: "sre-ana"}, sdktest.Deny},
		"root on the socket":                 {usual, "shop", sdktest.Connection{Source: "socket", User: "root"}, sdktest.Deny},
		"without settings, everyone":         {nil, "debug", sdktest.Connection{User: "sre-ana"}, sdktest.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			got := sdktest.Load(t, test.settings).Connect(t, requested(test.namespace, test.requested))
			if got.Answer != test.want {
				t.Errorf("got %+v, want %s", got, test.want)
			}
			if got.Answer == sdktest.Deny && (got.Code != "NoExec" || !strings.Contains(got.Message, "in namespace "+test.namespace)) {
				t.Errorf("denied because of %s: %s", got.Code, got.Message)
			}
		})
	}
}

func TestSetup_refusesSettingsThatMeanNothing(t *testing.T) {
	for name, test := range map[string]struct {
		settings map[string]any
		want     string
	}{
		"no kind":          {map[string]any{"kinds": []string{}}, "settings.kinds is empty"},
		"an unknown kind":  {map[string]any{"kinds": []string{"ssh"}}, `not "ssh"`},
		"an empty pattern": {map[string]any{"namespaces": []string{""}}, "an empty pattern"},
		"a typing mistake": {map[string]any{"namespace": []string{"debug"}}, "did you mean namespaces?"},
		"another type":     {map[string]any{"users": "alice"}, "setting users must be a list"},
	} {
		if got := sdktest.LoadError(t, test.settings); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
