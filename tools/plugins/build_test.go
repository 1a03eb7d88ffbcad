package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

func TestOnlyPlacesOfTheEnvironmentReachTheCCompiler(t *testing.T) {
	got := cEnvironment([]string{"HOME=/h", "PATH=/p", "TMPDIR=/t", "CPATH=/c", "C_INCLUDE_PATH=/c", "CCC_OVERRIDE_OPTIONS=x", "SOURCE_DATE_EPOCH=1"})
	if want := []string{"HOME=/h", "PATH=/p", "TMPDIR=/t"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// inC creates a checkout that contains only the C SDK and a plugin of one C file.
func inC(t *testing.T, text string) (root string) {
	t.Helper()
	root = t.TempDir()
	sdk := filepath.Join("plugins", "sdk", "c")
	if err := os.CopyFS(filepath.Join(root, sdk), os.DirFS(filepath.Join(checkout, sdk))); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, examples, "broken")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"main.c": text, "main_test.c": "no C"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAPluginInCThatDoesNotCompileIsAnErrorWithItsLine(t *testing.T) {
	const hooks = "#include \"wardlet.h\"\nstatic bool setup(void) { return true; }\n" +
		"static wardlet_verdict judge(void) { return wardlet_allow(); }\n"
	for text, want := range map[string]string{
		"#include \"wardlet.h\"\nint f(void) { return undefined; }\n": "main.c:2:22",
		hooks: "unused function 'setup'", // a warning
		hooks + "WARDLET_PLUGIN(setup);\nint g(void) { return (int)judge().is.given; }\n":                                                    "it exports no hook",
		hooks + "WARDLET_ADMIT(judge);\nbool h(void) { return setup(); }\n":                                                                  "it does not export wardlet_abi_1_0",
		"int puts(const char *);\n" + strings.Replace(hooks, "true", `puts("") == 0`, 1) + "WARDLET_PLUGIN(setup);\nWARDLET_ADMIT(judge);\n": "undefined symbol: puts",
	} {
		if err := run(t.Context(), inC(t, text), t.TempDir(), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, want %s", text, err, want)
		}
	}
	root := inC(t, hooks+"WARDLET_PLUGIN(setup);\nWARDLET_ADMIT(judge);\n")
	module, err := build(t.Context(), root, "broken")
	if err != nil {
		t.Fatal(err)
	}
	m, err := readModule(module)
	if want := []function{{"wardlet1", "reason"}}; err != nil || !slices.Equal(m.imports, want) {
		t.Errorf("imports %v, %v, want %v: nothing that is not used", m.imports, err, want)
	}
}

func TestTheCSDKsREADMEShowsAPluginWithItsTest(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(checkout, "plugins", "sdk", "c", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```c\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks of C, want a plugin and its test", len(blocks))
	}
	root := inC(t, blocks[0][1])
	if _, err := build(t.Context(), root, "broken"); err != nil {
		t.Error(err)
	}
	dir := filepath.Join(root, examples, "broken")
	if err := os.WriteFile(filepath.Join(dir, "main_test.c"), []byte(blocks[1][1]), 0o644); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(filepath.Join(root, "plugins", "sdk", "c", "test.sh"), dir).CombinedOutput()
	if err != nil || !strings.Contains(string(said), "ok: 1 tests, 0 failed") {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestWithoutAClangTheErrorSaysWhatToDo(t *testing.T) {
	root := inC(t, "")
	t.Setenv("PATH", t.TempDir())
	if err := run(t.Context(), root, t.TempDir(), io.Discard); err == nil || !strings.Contains(err.Error(), "tools/setup.sh guests") {
		t.Errorf("got %v", err)
	}
}

// elsewhere returns a folder with a header that no plugin may find.
func elsewhere(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "stdint.h"), []byte("#error found\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

var caches = flag.Bool("caches", false, "build each checkout with an empty build cache, as make soak does")

// Two checkouts in different places result in the same bytes, although each has an environment that
// could change the build. The modules have been checked against the functions that agents offer
// (checkModule).
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
		if *caches {
			t.Setenv("GOCACHE", filepath.Join(base, "cache"))
		}
		t.Setenv("GOFLAGS", []string{"-mod=mod -tags=a", "-race"}[i])
		t.Setenv("GOWASM", []string{"", "satconv,signext"}[i])
		t.Setenv("CPATH", []string{"", elsewhere(t)}[i])
		t.Setenv("CCC_OVERRIDE_OPTIONS", []string{"", "+-g"}[i])
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
	if !strings.Contains(first, "allowed-images.wasm=\x00asm") || !strings.Contains(first, "allowed-images-c.wasm=\x00asm") || !strings.Contains(first, "required-labels.toml=") {
		t.Error("not everything was built")
	}
}
