package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

const builtDocument = `
api = "wardlet.dev/v1"
name = "allowed-images"
module = "allowed-images.wasm"
sha256 = "00ff"
hooks = ["admit"]
priority = 100
[match]
namespaces = ["*"]
[settings]
allow = ["a/*"]
require_digest = true
[[test]]
pod = "tests/a.yaml"
expect = "allow"
`

// builtPolicies returns a directory like the one that `make plugins` writes.
func builtPolicies(t *testing.T, document string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"allowed-images.toml": document, "allowed-images.wasm": "\x00asm"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAPolicyIsWrittenWithOtherSettingsAndElseAsItWasBuilt(t *testing.T) {
	t.Parallel()
	p, err := readPolicy(builtPolicies(t, builtDocument))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, allow := range [][]string{{"x/*"}, {"x/*", "y/z:1"}} {
		if err := p.write(dir, allow); err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if _, err := toml.DecodeFile(filepath.Join(dir, "allowed-images.toml"), &got); err != nil {
			t.Fatal(err)
		}
		var patterns []any
		for _, pattern := range allow {
			patterns = append(patterns, pattern)
		}
		want := map[string]any{
			"api": "wardlet.dev/v1", "name": "allowed-images", "module": "allowed-images.wasm", "sha256": "00ff",
			"hooks": []any{"admit"}, "priority": int64(100), "match": map[string]any{"namespaces": []any{"*"}},
			"settings": map[string]any{"allow": patterns},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if module, err := os.ReadFile(filepath.Join(dir, "allowed-images.wasm")); err != nil || string(module) != "\x00asm" {
		t.Errorf("the module is %q, %v", module, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}

func TestAPolicyThatWasNotBuiltSaysWhatToDo(t *testing.T) {
	t.Parallel()
	elsewhere := strings.Replace(builtDocument, `"allowed-images.wasm"`, `"../x.wasm"`, 1)
	missing := strings.Replace(builtDocument, `"allowed-images.wasm"`, `"x.wasm"`, 1)
	for name, dir := range map[string]string{
		"no directory": filepath.Join(t.TempDir(), "none"), "no TOML": builtPolicies(t, "api ="),
		"no module named": builtPolicies(t, "api = 1"), "a module elsewhere": builtPolicies(t, elsewhere),
		"a module that is missing": builtPolicies(t, missing),
	} {
		if _, err := readPolicy(dir); err == nil || !strings.Contains(err.Error(), "run make plugins") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
