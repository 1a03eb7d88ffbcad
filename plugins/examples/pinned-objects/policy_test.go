package main

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var (
	pins = map[string]string{"shop/ConfigMap/app": "sha256:1f", "shop/Secret/tls": "hmac-sha256:2e"}
	app  = sdktest.Reference{Name: "app", Digest: "sha256:1f"}
	tls  = sdktest.Reference{Kind: "Secret", Name: "tls", Digest: "hmac-sha256:2e"}
)

func naming(namespace string, references ...sdktest.Reference) sdktest.Request {
	return sdktest.Request{Pod: map[string]any{"metadata": map[string]any{"namespace": namespace}}, References: references}
}

func TestJudge_allowsWhatIsPinned(t *testing.T) {
	other := sdktest.Reference{Name: "app", Digest: "sha256:2a"}
	for name, test := range map[string]struct {
		others  string
		request sdktest.Request
		want    sdktest.Answer
		message string
	}{
		"a pod that names nothing":              {"deny", naming("shop"), sdktest.Allow, ""},
		"what is pinned":                        {"deny", naming("shop", app, tls), sdktest.Allow, ""},
		"another content":                       {"allow", naming("shop", tls, other), sdktest.Deny, "shop/ConfigMap/app is not what is pinned: it is sha256:2a"},
		"one that is not there":                 {"allow", naming("shop", sdktest.Reference{Name: "app"}), sdktest.Hold, "shop/ConfigMap/app is pinned and not there"},
		"another content comes before that":     {"allow", naming("shop", other, sdktest.Reference{Kind: "Secret", Name: "tls"}), sdktest.Deny, "sha256:2a"},
		"one that is not pinned":                {"allow", naming("shop", sdktest.Reference{Name: "other", Digest: "sha256:3"}), sdktest.Allow, ""},
		"one that is not pinned, and must be":   {"deny", naming("shop", app, sdktest.Reference{Name: "other"}), sdktest.Deny, "shop/ConfigMap/other is not pinned"},
		"one of that name in another namespace": {"allow", naming("lab", other), sdktest.Allow, ""},
		"one of that name and another kind":     {"allow", naming("shop", sdktest.Reference{Kind: "Secret", Name: "app", Digest: "hmac-sha256:1"}), sdktest.Allow, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := sdktest.Load(t, map[string]any{"pins": pins, "others": test.others}, sdktest.ReferencesRead).Admit(t, test.request)
			if got.Answer != test.want || !strings.Contains(got.Message, test.message) {
				t.Errorf("got %+v, want %s: %s", got, test.want, test.message)
			}
		})
	}
}

func TestSetup_refusesSettingsThatMeanNothing(t *testing.T) {
	for name, test := range map[string]struct {
		settings map[string]any
		want     string
	}{
		"no pin":           {map[string]any{"pins": map[string]string{}}, "settings.pins is empty"},
		"others":           {map[string]any{"pins": pins, "others": "hold"}, `not "hold"`},
		"no namespace":     {map[string]any{"pins": map[string]string{"ConfigMap/app": "sha256:1"}}, `not "ConfigMap/app"`},
		"another kind":     {map[string]any{"pins": map[string]string{"shop/Service/app": "sha256:1"}}, `not "shop/Service/app"`},
		"no digest":        {map[string]any{"pins": map[string]string{"shop/ConfigMap/app": "1f"}}, "needs a digest that begins with sha256:"},
		"a Secret's":       {map[string]any{"pins": map[string]string{"shop/Secret/tls": "sha256:1f"}}, "needs a digest that begins with hmac-sha256:"},
		"a typing mistake": {map[string]any{"pin": pins}, "did you mean pins?"},
	} {
		if got := sdktest.LoadError(t, test.settings, sdktest.ReferencesRead); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
