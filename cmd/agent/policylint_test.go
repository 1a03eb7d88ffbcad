package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/wasmtest" //nolint:depguard // a plugin to load
)

func TestPolicyLint(t *testing.T) {
	t.Parallel()
	module := wasmtest.Answering(1, "", "")
	const test = "[[test]]\npod = \"web.yaml\"\nexpect = %q\n"
	for name, keys := range map[string]string{
		"policy-lint":         fmt.Sprintf(test, "deny"),
		"policy-lint-advice":  "on_error = \"allow\"\n",
		"policy-lint-refused": "on_error = \"allow\"\nmdoe = \"off\"\n" + fmt.Sprintf(test, "allow"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{
				"p.wasm":   string(module),
				"p.toml":   fmt.Sprintf("api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"p.wasm\"\nsha256 = \"%x\"\nhooks = [\"admit\"]\n%s", sha256.Sum256(module), keys),
				"web.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: img}]}\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			golden(t, name, wardlet(t.Context(), "policy", "lint", dir), dir, "DIR")
		})
	}
	golden(t, "help-policy-lint", wardlet(t.Context(), "policy", "lint", "--help"))
	golden(t, "policy-lint-nothing", wardlet(t.Context(), "policy", "lint"))
}
