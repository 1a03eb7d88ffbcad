package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const checkout = "../.."

func TestDigestsAreFilledIn(t *testing.T) {
	got, err := fill([]byte("# sha256 = \"\"\nmodule = \"a.wasm\"\nsha256 = \"\"\n# end"), map[string][]byte{"a.wasm": []byte("abc")})
	want := "# sha256 = \"\"\nmodule = \"a.wasm\"\nsha256 = \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n# end"
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestTemplatesThatCannotBeFilledInAreErrors(t *testing.T) {
	for text, want := range map[string]string{
		"sha256 = \"\"\n":                                           "found 0",
		"module = \"a.wasm\"\n":                                     "sha256",
		"module = \"a.wasm\"\nsha256 = \"00\"\n":                    "sha256",
		"module = \"a.wasm\"\nsha256 = \"\"\nsha256 = \"\"\n":       "found 2",
		"module = \"a.wasm\"\nmodule = \"a.wasm\"\nsha256 = \"\"\n": "found 2",
		"module = \"b.wasm\"\nsha256 = \"\"\n":                      "no plugin in plugins/examples builds the module b.wasm",
		"module = \"../a.wasm\"\nsha256 = \"\"\n":                   "no plugin",
	} {
		if _, err := fill([]byte(text), map[string][]byte{"a.wasm": nil}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestEveryPluginHasADocumentWithTests(t *testing.T) {
	names, err := plugins(checkout)
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string][]byte{}
	var want []string
	for _, name := range names {
		modules[name+".wasm"] = nil
		want = append(want, name+".toml")
	}
	slices.Sort(want)
	documents, err := documents(checkout, modules)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(documents)); !slices.Equal(got, want) {
		t.Errorf("documents %q, want %q", got, want)
	}
	tests, err := tests(checkout)
	if err != nil {
		t.Fatal(err)
	}
	unused := maps.Clone(tests)
	for name, text := range documents {
		used := 0
		for line := range strings.Lines(string(text)) {
			pod, ok := strings.CutPrefix(line, `pod = "`)
			if !ok {
				continue
			}
			used++
			pod = strings.TrimSuffix(pod, "\"\n")
			if _, ok := tests[pod]; !ok {
				t.Errorf("%s names %s, which is not there", name, pod)
			}
			delete(unused, pod)
		}
		if used < 2 {
			t.Errorf("%s has %d tests, want two at least", name, used)
		}
	}
	for name := range unused {
		t.Errorf("%s is named by no document", name)
	}
}

func TestACheckoutWithoutTestsIsNoError(t *testing.T) {
	if got, err := tests(t.TempDir()); err != nil || len(got) > 0 {
		t.Errorf("got %v, %v", got, err)
	}
	root := t.TempDir()
	file := filepath.Join(root, "policies", "tests", "a", "b.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := tests(root); err != nil || string(got["tests/a/b.yaml"]) != "x" {
		t.Errorf("got %v, %v", got, err)
	}
}
