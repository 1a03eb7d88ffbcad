package wasm

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/pod"
)

// exampleGuest is an example plugin, compiled to WebAssembly.
func exampleGuest(t *testing.T, name string) []byte {
	t.Helper()
	binary, err := build("../../../plugins/examples", "./"+name)
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// The host and the SDK are written against docs/abi.md, not against each other.
func TestPluginsOfTheSDKRun(t *testing.T) {
	t.Parallel()
	p, log := load(t, exampleGuest(t, "allowed-images"), func(o *Options) {
		o.MemoryPages = 64
		o.Settings = map[string]any{"allow": []any{"registry.example/*", "docker.io/library/nginx"}}
	})
	for range 2 {
		if got := admit(t, p, "nginx:1.27", "registry.example/shop/web"); got.Answer != pod.Allow || !strings.Contains(got.Explanation, "nginx:1.27") {
			t.Errorf("%+v", got)
		}
		got := admit(t, p, "nginx", "evil.example/nginx")
		if got.Answer != pod.Deny || got.Reason != "ImageNotAllowed" || !strings.Contains(got.Message, "evil.example/nginx") {
			t.Errorf("%+v", got)
		}
		if got := admit(t, p); got.Answer != pod.Allow {
			t.Errorf("without containers: %+v", got)
		}
	}
	if log.String() != "" {
		t.Errorf("log %s", log)
	}
}

func TestPluginsOfTheSDKRefuseTheirSettings(t *testing.T) {
	t.Parallel()
	e, _ := testEngine(t)
	o := testOptions()
	o.MemoryPages = 64
	_, err := e.Load(t.Context(), exampleGuest(t, "allowed-images"), o)
	if err == nil || !strings.HasPrefix(err.Error(), "PluginError: wardlet_init refuses: settings.allow must list at least one pattern") {
		t.Errorf("error %v", err)
	}
}
