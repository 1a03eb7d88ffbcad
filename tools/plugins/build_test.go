package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOnlyPlacesOfTheEnvironmentReachTheBuild(t *testing.T) {
	got := environment([]string{
		"HOME=/h", "PATH=/p", "GOCACHE=/c", "GOFLAGS=-race", "GOEXPERIMENT=x", "GOWASM=satconv", "GOOS=plan9", "GO111MODULE=off",
		"GOPROXY=https://proxy.example",
	})
	for _, want := range []string{"HOME=/h", "PATH=/p", "GOCACHE=/c", "GOOS=wasip1", "GOARCH=wasm", "GOPROXY=off"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, variable := range got {
		name, value, _ := strings.Cut(variable, "=")
		if name == "GOFLAGS" || name == "GOEXPERIMENT" || name == "GOWASM" || name == "GO111MODULE" || value == "plan9" || strings.HasPrefix(value, "https") {
			t.Errorf("%s is there", variable)
		}
	}
}

func TestADirectoryWithoutPluginsIsAnError(t *testing.T) {
	if _, err := plugins(t.TempDir()); err == nil || !strings.Contains(err.Error(), "-root") {
		t.Errorf("got %v", err)
	}
}

func TestAPluginThatDoesNotCompileIsAnErrorWithItsLine(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, examples, "broken")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		filepath.Join(root, examples, "go.mod"): "module example.org/x\n\ngo 1.26\n",
		filepath.Join(dir, "main.go"):           "package main\n\nfunc main() { undefined() }\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(t.Context(), root, t.TempDir(), io.Discard); err == nil || !strings.Contains(err.Error(), "main.go:3:15") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), root, t.TempDir(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), "plugin broken: it does not export wardlet_abi_1_0") {
		t.Errorf("a program that is no plugin: %v", err)
	}
}

// Two checkouts in different places, each with a build cache of its own and
// an environment that would change the build, give the same bytes. Each
// plugin's module has been checked against what agents offer (checkModule).
func TestTheSamePoliciesComeOutOfEveryCheckout(t *testing.T) {
	var first string
	for i, place := range []string{"a", "another/place"} {
		base := t.TempDir()
		root := filepath.Join(base, place)
		for _, part := range []string{"plugins", "policies"} {
			if err := os.CopyFS(filepath.Join(root, part), os.DirFS(filepath.Join(checkout, part))); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("GOCACHE", filepath.Join(base, "cache"))
		t.Setenv("GOFLAGS", []string{"-mod=mod -tags=a", "-race"}[i])
		t.Setenv("GOWASM", []string{"", "satconv,signext"}[i])
		out := filepath.Join(base, "out")
		if err := run(t.Context(), root, out, io.Discard); err != nil {
			t.Fatal(err)
		}
		got := files(t, out)
		if i == 0 {
			first = got
		}
		if got != first {
			t.Errorf("the checkout in %s gives other files", root)
		}
		for _, private := range []string{base, "/" + place + "/plugins"} {
			if bytes.Contains([]byte(got), []byte(private)) {
				t.Errorf("a module tells that it was built in %s", private)
			}
		}
	}
	if !strings.Contains(first, "allowed-images.wasm=\x00asm") || !strings.Contains(first, "required-labels.toml=") {
		t.Error("not everything was built")
	}
}
