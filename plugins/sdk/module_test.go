package sdk_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module has the imports and exports of a module.
type module struct {
	size             int
	imports, exports []string
}

// buildGuest builds the plugin in a folder of a Go module.
func buildGuest(t *testing.T, dir, folder string) module {
	t.Helper()
	file := filepath.Join(t.TempDir(), "guest.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, folder)
	build.Dir = dir
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := readModule(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var errTornModule = errors.New("the module is torn")

// readModule reads the sections of imports and exports.
func readModule(text []byte) (m module, err error) {
	m.size = len(text)
	r := bytes.NewReader(text[8:])
	for r.Len() > 0 {
		id, _ := r.ReadByte()
		section := bytes.NewReader(take(r))
		if id != 2 && id != 7 {
			continue
		}
		count, err := binary.ReadUvarint(section)
		if err != nil {
			return m, errTornModule
		}
		for range count {
			name := string(take(section))
			if id == 2 {
				name += "." + string(take(section))
				m.imports = append(m.imports, name)
			} else {
				m.exports = append(m.exports, name)
			}
			if _, err := section.ReadByte(); err != nil {
				return m, errTornModule
			}
			if _, err := binary.ReadUvarint(section); err != nil {
				return m, errTornModule
			}
		}
	}
	return m, nil
}

// take reads a length and that many bytes.
func take(r *bytes.Reader) []byte {
	length, err := binary.ReadUvarint(r)
	if err != nil || length > uint64(r.Len()) {
		return nil
	}
	taken := make([]byte, length)
	_, _ = r.Read(taken)
	return taken
}

func TestAModuleHasWhatItsPluginUsesAndNothingElse(t *testing.T) {
	t.Parallel()
	runtime := []string{"_initialize", "memory", "wardlet_abi_1_0", "wardlet_init", "wardlet_input"}
	for folder, test := range map[string]struct{ imports, exports []string }{
		"./testdata/small":    {[]string{"path", "reason", "retry_after_ms"}, []string{"wardlet_admit"}},
		"./testdata/decoding": {[]string{"path", "reason", "retry_after_ms", "setting"}, []string{"wardlet_admit"}},
		"./testdata/everything": {
			[]string{
				"annotate", "field", "get", "json", "log", "log_enabled", "patch", "path", "reason", "retry_after_ms", "setting", "warn",
			},
			[]string{"wardlet_admit", "wardlet_filter", "wardlet_merge", "wardlet_validate_settings"},
		},
	} {
		m := buildGuest(t, ".", folder)
		var imports []string
		for _, name := range m.imports {
			if name, ok := strings.CutPrefix(name, "wardlet1."); ok {
				imports = append(imports, name)
			}
		}
		slices.Sort(imports)
		if !slices.Equal(imports, test.imports) {
			t.Errorf("%s imports %q, want %q", folder, imports, test.imports)
		}
		slices.Sort(m.exports)
		if want := slices.Sorted(slices.Values(append(test.exports, runtime...))); !slices.Equal(m.exports, want) {
			t.Errorf("%s exports %q, want %q", folder, m.exports, want)
		}
	}
}

// If a loop iterates over a function that is not inlined into the policy, it allocates heap
// memory in every call.
func TestLoopsAreCompiledIntoThePolicy(t *testing.T) {
	t.Parallel()
	build := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-gcflags=-m", "-o", filepath.Join(t.TempDir(), "guest.wasm"), "./testdata/reading")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said := string(out)
	for _, loop := range []string{"(*Field).Strings", "(*Field).AllStrings", "(*Field).Elements", "Zip", "(*Field).Map"} {
		if !strings.Contains(said, "inlining call to sdk."+loop+"\n") {
			t.Errorf("%s is called", loop)
		}
	}
	for line := range strings.Lines(said) {
		if strings.Contains(line, "moved to heap") || strings.Contains(line, "func literal escapes") {
			t.Error(line)
		}
	}
}

// Every plugin is under two megabytes: the agent compiles and keeps all of it. The only
// exception is the plugin with all checks of the Pod Security Standards in each version: it
// has 0.2 MB of code of its own.
func TestPluginsAreSmall(t *testing.T) {
	t.Parallel()
	const most = 2_000_000
	larger := map[string]int{"pod-security": 2_100_000}
	mains, err := filepath.Glob("../examples/*/main.go")
	if err != nil || len(mains) < 2 {
		t.Fatalf("%d examples, %v", len(mains), err)
	}
	for _, file := range mains {
		folder := filepath.Base(filepath.Dir(file))
		limit := cmp.Or(larger[folder], most)
		if m := buildGuest(t, "../examples", "./"+folder); m.size >= limit {
			t.Errorf("the example %s has %d bytes: less than %d are allowed", folder, m.size, limit)
		}
	}
	small, decoding := buildGuest(t, ".", "./testdata/small").size, buildGuest(t, ".", "./testdata/decoding").size
	if small >= 1_900_000 || decoding-small >= 140_000 {
		t.Errorf("a small plugin has %d bytes, with its settings decoded %d: more than the README says", small, decoding)
	}
}
