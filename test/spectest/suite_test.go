package spectest

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// version describes the tests of one version of the specification, as shipped with wazero v1.12.0.
type version struct {
	name     string
	features api.CoreFeatures
	files    int
	// commands are the numbers of commands by type; types that begin with assert_ are assertions.
	commands map[string]int
	// text is the number of assertions of modules in the text format.
	text int
	// deviations are the numbers of commands in which wazero deviates from the specification.
	deviations map[string]int
	// halves is the number of globals of which only a half is compared.
	halves int
}

var suites = []version{
	{
		name: "v1", features: api.CoreFeaturesV1, files: 73,
		commands: map[string]int{
			"module": 780, "register": 10, "action": 42, "assert_return": 15_788, "assert_trap": 458, "assert_exhaustion": 15,
			"assert_invalid": 989, "assert_malformed": 1_091, "assert_unlinkable": 95, "assert_uninstantiable": 2,
		},
		text: 430, deviations: map[string]int{early: 9},
	},
	{
		name: "v2", features: api.CoreFeaturesV2, files: 148,
		commands: map[string]int{
			"module": 1_599, "register": 22, "action": 155, "assert_return": 45_734, "assert_trap": 2_408, "assert_exhaustion": 15,
			"assert_invalid": 2_146, "assert_malformed": 1_810, "assert_unlinkable": 83, "assert_uninstantiable": 34,
		},
		text: 1_091, deviations: map[string]int{unfilled: 15, unseen: 5}, halves: 15,
	},
}

var engines = []struct {
	name   string
	config func() wazero.RuntimeConfig
}{
	{"compiler", wazero.NewRuntimeConfigCompiler},
	{"interpreter", wazero.NewRuntimeConfigInterpreter},
}

// shipped returns the folder of the specification tests in wazero's module.
var shipped = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	return filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest"), err
})

// suite returns the folder of a version.
func suite(tb testing.TB, name string) fs.FS {
	tb.Helper()
	dir, err := shipped()
	if err != nil {
		tb.Fatalf("find wazero's module: %v", err)
	}
	return os.DirFS(filepath.Join(dir, name, "testdata"))
}

// config returns a Config that runs unchanged modules.
func config(tb testing.TB, engine wazero.RuntimeConfig, features api.CoreFeatures) Config {
	tb.Helper()
	dir, err := shipped()
	if err != nil {
		tb.Fatalf("find wazero's module: %v", err)
	}
	host, err := os.ReadFile(filepath.Join(dir, "testdata", "spectest.wasm"))
	if err != nil {
		tb.Fatal(err)
	}
	return Config{Runtime: engine.WithCoreFeatures(features), Host: host}
}
