package wasm

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

// TestPluginsOfTheSDK checks the host and the Go SDK against each other: both are written
// from docs/abi.md.
func TestPluginsOfTheSDK(t *testing.T) {
	t.Parallel()
	binary, err := build("../../../plugins/examples", "./allowed-images")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = loadShared(t, binary, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "PluginError: wardlet_init refuses: settings.allow must list at least one pattern") {
		t.Errorf("without settings: %v", err)
	}
	p, log, err := loadShared(t, binary, map[string]any{"allow": []any{"registry.example/*", "docker.io/library/nginx"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := admit(t, p, "nginx:1.27", "registry.example/shop/web"); got.Answer != api.Allow || !strings.Contains(got.Explanation, "nginx:1.27") {
			t.Errorf("%+v", got)
		}
		got := admit(t, p, "nginx", "evil.example/nginx")
		if got.Answer != api.Deny || got.Reason != "ImageNotAllowed" || !strings.Contains(got.Message, "evil.example/nginx") {
			t.Errorf("%+v", got)
		}
		if got := admit(t, p); got.Answer != api.Allow {
			t.Errorf("without containers: %+v", got)
		}
	}
	if log.String() != "" {
		t.Errorf("log %s", log)
	}
}
