package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/wardlet/wardlet/test/wasmtest"
)

func TestPolicyLint(t *testing.T) {
	t.Parallel()
	module := wasmtest.Answering(1, "", "")
	const test = "[[test]]\npod = \"web.yaml\"\nexpect = %q\n"
	for name, c := range map[string]struct {
		keys string
		args []string
	}{
		"policy-lint":              {fmt.Sprintf(test, "deny"), nil},
		"policy-lint-json":         {fmt.Sprintf(test, "deny"), []string{"-o", "json"}},
		"policy-lint-advice":       {"on_error = \"allow\"\n", nil},
		"policy-lint-advice-yaml":  {"on_error = \"allow\"\n", []string{"-o", "yaml"}},
		"policy-lint-refused":      {"on_error = \"allow\"\nmdoe = \"off\"\n" + fmt.Sprintf(test, "allow"), nil},
		"policy-lint-refused-json": {"on_error = \"allow\"\nmdoe = \"off\"\n" + fmt.Sprintf(test, "allow"), []string{"-o", "json"}},
		"policy-lint-fails-json":   {"on_error = \"allow\"\n" + fmt.Sprintf(test, "allow"), []string{"-o", "json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{
				"p.wasm":   string(module),
				"p.toml":   fmt.Sprintf("api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"p.wasm\"\nsha256 = \"%x\"\nhooks = [\"admit\"]\n%s", sha256.Sum256(module), c.keys),
				"web.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: img}]}\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			golden(t, name, wardlet(t.Context(), append([]string{"policy", "lint", dir}, c.args...)...), dir, "DIR")
		})
	}
	golden(t, "help-policy-lint", wardlet(t.Context(), "policy", "lint", "--help"))
	missing := filepath.Join(t.TempDir(), "none")
	golden(t, "policy-lint-unread-json", wardlet(t.Context(), "policy", "lint", missing, "-o", "json"), missing, "DIR")
	golden(t, "usage-policy-lint-output", wardlet(t.Context(), "policy", "lint", ".", "-o", "wide"))
	golden(t, "policy-lint-nothing", wardlet(t.Context(), "policy", "lint"))
}
