package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/cmd/agent/internal/clitest"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/test/wasmtest"
)

const webPod = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: img}]}\n"

// draft returns a directory with the policy p and the given files, each as a name followed by a
// text. keys follow the keys that every document has.
func draft(t *testing.T, module []byte, keys string, files ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	files = append(files, "p.wasm", string(module), "web.yaml", webPod,
		"p.toml", "api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"p.wasm\"\n"+keys)
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	admitKeys = "hooks = [\"admit\"]\n"
	denyTest  = "[[test]]\npod = \"web.yaml\"\nexpect = \"deny\"\n"
	allowTest = "[[test]]\npod = \"web.yaml\"\nexpect = \"allow\"\n"
)

func pinned(module []byte) string { return fmt.Sprintf("sha256 = \"%x\"\n", sha256.Sum256(module)) }

func TestPolicyTest(t *testing.T) {
	t.Parallel()
	denying := wasmtest.Answering(1, "NotNice", "because it is so")
	for name, test := range map[string]struct {
		module []byte
		keys   string
		files  []string
		args   []string
	}{
		"policy-test":          {module: denying, keys: pinned(denying) + admitKeys + denyTest},
		"policy-test-verbose":  {module: denying, keys: pinned(denying) + admitKeys + denyTest, args: []string{"-v"}},
		"policy-test-json":     {module: denying, keys: pinned(denying) + admitKeys + denyTest, args: []string{"-o", "json"}},
		"policy-test-wrong":    {module: denying, keys: pinned(denying) + admitKeys + denyTest + allowTest, args: []string{"-v"}},
		"policy-test-run":      {module: denying, keys: pinned(denying) + admitKeys + denyTest + allowTest, args: []string{"--run", "/web$"}},
		"policy-test-run-none": {module: denying, keys: pinned(denying) + admitKeys + denyTest, args: []string{"--run", "db"}},
		"policy-test-unpinned": {module: denying, keys: admitKeys + denyTest},
		"policy-test-off":      {module: denying, keys: pinned(nil) + admitKeys + "mode = \"off\"\n" + denyTest},
		"policy-test-no-match": {module: denying, keys: pinned(denying) + admitKeys + "match.namespaces = [\"a\"]\n" + denyTest},
		"policy-test-no-tests": {module: denying, keys: pinned(denying) + admitKeys},
		"policy-test-trap":     {module: wasmtest.Trapping(), keys: pinned(wasmtest.Trapping()) + admitKeys + denyTest},
		"policy-test-document": {module: denying, keys: "hoks = [\"admit\"]\n" + denyTest},
		"policy-test-pod":      {module: denying, keys: pinned(denying) + admitKeys + denyTest, files: []string{"q.toml", "x"}, args: []string{"--run", "p/"}},
		"policy-test-candidate": {module: denying, keys: pinned(denying) + admitKeys + denyTest, files: []string{
			"next.toml", "api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"p.wasm\"\nmode = \"shadow\"\n" + pinned(denying) + admitKeys + denyTest,
		}, args: []string{"--update"}},
		"policy-test-no-plugin": {module: []byte("x"), keys: admitKeys + denyTest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := draft(t, test.module, test.keys, test.files...)
			golden(t, name, wardlet(t.Context(), append([]string{"policy", "test", dir}, test.args...)...), dir, "DIR")
		})
	}
	for name, args := range map[string][]string{
		"usage-policy-test-none":   {"policy", "test"},
		"usage-policy-test-two":    {"policy", "test", "a", "b"},
		"usage-policy-test-run":    {"policy", "test", ".", "--run", "("},
		"usage-policy-test-value":  {"policy", "test", ".", "-run=/web$"},
		"usage-policy-test-letter": {"policy", "test", ".", "-x"},
		"usage-policy-test-output": {"policy", "test", ".", "-o", "wide"},
		"help-policy-test":         {"policy", "test", "--help"},
	} {
		golden(t, name, wardlet(t.Context(), args...))
	}
}

func TestPolicyTestOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	golden(t, "policy-test-empty", wardlet(t.Context(), "policy", "test", dir), dir, "DIR")
	golden(t, "policy-test-missing", wardlet(t.Context(), "policy", "test", dir+"/none"), dir, "DIR")
	whole := draft(t, nil, admitKeys+denyTest)
	if err := os.Remove(filepath.Join(whole, "p.wasm")); err != nil {
		t.Fatal(err)
	}
	golden(t, "policy-test-not-built", wardlet(t.Context(), "policy", "test", whole), whole, "DIR")
}

func TestGoldenVerdictsAreComparedAsAWhole(t *testing.T) {
	t.Parallel()
	denying := wasmtest.Answering(1, "NotNice", "because it is so")
	dir := draft(t, denying, admitKeys+denyTest)
	run := func(args ...string) string {
		return wardlet(t.Context(), append([]string{"policy", "test", filepath.Join(dir, "p.toml")}, args...)...)
	}
	const passes = "--- exit status 0"
	if got := run("--update"); !strings.Contains(got, "ok     p/web   deny   (golden file written)") || !strings.Contains(got, passes) {
		t.Errorf("written:\n%s", got)
	}
	if got := run("-update"); strings.Contains(got, "written") {
		t.Errorf("the same is written again:\n%s", got)
	}
	if got := run(); !strings.Contains(got, passes) {
		t.Errorf("compared:\n%s", got)
	}
	file := filepath.Join(dir, "tests", "golden", "p", "web.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, change := range map[string]struct{ from, to, want string }{
		"another message":             {"because it is so", "because", `message is "because it is so", want "because" as in `},
		"another fuel":                {`"fuel": `, `"fuel": 1`, "fuel is "},
		"a warning that is gone":      {`"code"`, `"warnings": ["soon"], "code"`, `warnings is nothing, want ["soon"] as in `},
		"a key that nobody knows":     {`"code"`, `"cod"`, `web.json: no golden file: json: unknown field "cod"`},
		"a file that is cut off":      {"\n}\n", "", "no golden file: unexpected EOF"},
		"a file that holds something": {string(text), "x", "web.json:1: no golden file: "},
	} {
		put(strings.Replace(string(text), change.from, change.to, 1))
		got := run()
		if !strings.Contains(got, "FAIL   p/web\n       "+dir+"/p.toml:5: test: ") || !strings.Contains(got, change.want) || !strings.Contains(got, "--- exit status 1") {
			t.Errorf("%s, want %s:\n%s", name, change.want, got)
		}
	}
	put(string(text))
	// Another module with the same output uses other fuel. That is not a difference.
	longer := wasmtest.Plugin(wasmtest.Reason)
	longer.Admit(wasmtest.I32Const(1), wasmtest.Drop, longer.Says("NotNice", "because it is so"), wasmtest.I32Const(1))
	if err := os.WriteFile(filepath.Join(dir, "p.wasm"), longer.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(); !strings.Contains(got, passes) {
		t.Errorf("another module that says the same:\n%s", got)
	}
}

func TestGoldenFilesThatAreNotComparedAreNamed(t *testing.T) {
	t.Parallel()
	dir := draft(t, wasmtest.Answering(1, "NotNice", "it is so"), admitKeys+denyTest)
	at := filepath.Join(dir, "tests", "golden", "p")
	run := func(args ...string) string {
		return wardlet(t.Context(), append([]string{"policy", "test", dir}, args...)...)
	}
	run("--update")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(at, "old.json"), "{}")
	document, err := os.ReadFile(filepath.Join(dir, "p.toml"))
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "p.toml"), string(document)+denyTest)
	got := run()
	for _, want := range []string{
		"note: " + filepath.Join(at, "old.json") + ": no test has this golden file; remove it, or give the test's pod its name back\n",
		"note: p/web-2 has no golden file, others of the policy have; --update writes it\n",
		"exit status 0",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	write(filepath.Join(dir, "q.toml"), string(document))
	if got, want := run(), "q.toml:2: name: \"p\" is the name of the policy in p.toml too; give each its own"; !strings.Contains(got, want) {
		t.Errorf("want %q in\n%s", want, got)
	}
}

// TestPolicyTest_jsonHasNoEscapesOfItsOwn: JSON itself escapes characters that would control a
// terminal. The decoded text is the original one.
func TestPolicyTest_jsonHasNoEscapesOfItsOwn(t *testing.T) {
	t.Parallel()
	module := wasmtest.Answering(1, "NotNice", "because it is so")
	const name = "we\u202eb.yaml"
	test := "[[test]]\npod = \"" + name + "\"\nexpect = \"allow\"\n"
	dir := draft(t, module, pinned(module)+admitKeys+test, name, "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: box}]}\n")
	text := wardlet(t.Context(), "policy", "test", dir, "-o", "json")
	text, _, _ = strings.Cut(text, "--- ")
	var report struct {
		Tests []*author.TestResult `json:"tests"`
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(report.Tests) != 1 || len(report.Tests[0].Faults) != 1 || !strings.Contains(report.Tests[0].Faults[0], name+": want allow, got deny") {
		t.Errorf("%s", text)
	}
	clitest.CheckVisible(t, "policy test -o json", text)
	lines := wardlet(t.Context(), "policy", "test", dir)
	if !strings.Contains(lines, `we\u202eb.yaml: want allow, got deny`) {
		t.Errorf("%s", lines)
	}
	clitest.CheckVisible(t, "policy test", lines)
}
