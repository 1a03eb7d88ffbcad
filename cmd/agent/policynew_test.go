package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/scaffold"
)

func TestPolicyNew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	golden(t, "policy-new", wardlet(t.Context(), "policy", "new", "mine", dir+"/go"), dir, "DIR")
	golden(t, "policy-new-again", wardlet(t.Context(), "policy", "new", "mine", dir+"/go"), dir, "DIR")
	golden(t, "policy-new-json", wardlet(t.Context(), "policy", "new", "mine", dir+"/c", "--lang", "c", "--hook", "merge", "-o", "json"), dir, "DIR")
	for name, args := range map[string][]string{
		"usage-policy-new-none":   {},
		"usage-policy-new-name":   {"My_Policy"},
		"usage-policy-new-lang":   {"mine", "--lang", "rust"},
		"usage-policy-new-hook":   {"mine", "--hook", "evict"},
		"usage-policy-new-three":  {"mine", "a", "b"},
		"usage-policy-new-output": {"mine", "-o", "wide"},
		"help-policy-new":         {"--help"},
	} {
		golden(t, name, wardlet(t.Context(), append([]string{"policy", "new"}, args...)...))
	}
}

// Every scaffold is built and tested as its README says, without a network.
func TestAPolicyThatIsNewBuildsAndPassesItsTests(t *testing.T) {
	t.Parallel()
	for _, language := range scaffold.Languages {
		for _, hook := range scaffold.Hooks {
			t.Run(language+" "+hook, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath("clang-19"); language == "c" && err != nil {
					t.Fatal("clang-19 is not here: run tools/setup.sh guests")
				}
				dir := filepath.Join(t.TempDir(), "mine")
				if got := wardlet(t.Context(), "policy", "new", "mine", dir, "--lang", language, "--hook", hook); !strings.Contains(got, "exit status 0") {
					t.Fatal(got)
				}
				build := exec.CommandContext(t.Context(), "make", "test", "WARDLET=true")
				build.Dir = dir
				build.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-trimpath") // as all else here is compiled
				if said, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, said)
				}
				got := wardlet(t.Context(), "policy", "test", dir)
				if strings.Contains(got, "note:") || strings.Count(got, "ok     mine/") != 2 || !strings.Contains(got, "exit status 0") {
					t.Errorf("the tests of the document:\n%s", got)
				}
				if got := wardlet(t.Context(), "policy", "lint", dir); !strings.Contains(got, "1 policy would be taken: mine") || strings.Contains(got, "look at") {
					t.Errorf("an agent would say:\n%s", got)
				}
				breakTest(t, filepath.Join(dir, "mine.toml"))
				got = wardlet(t.Context(), "policy", "test", dir)
				if !strings.Contains(got, "mine.toml:") || !strings.Contains(got, "exit status 1") {
					t.Errorf("a test that wants another answer passes:\n%s", got)
				}
			})
		}
	}
}

func TestADocumentThatIsNewNamesEveryMode(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	wardlet(t.Context(), "policy", "new", "mine", dir)
	document := filepath.Join(dir, "mine.toml")
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(string(text), "#mode = \"enforce\"", "mode = \"none\"", 1)
	if err := os.WriteFile(document, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	_, modes, _ := strings.Cut(wardlet(t.Context(), "policy", "lint", dir), ": mode: want ")
	modes, _, found := strings.Cut(modes, ", found")
	if !found {
		t.Fatal("nobody says which modes there are")
	}
	for _, mode := range regexp.MustCompile(`"[a-z]+"`).FindAllString(modes, -1) {
		if !strings.Contains(string(text), mode+":") {
			t.Errorf("the document says nothing of the mode %s", mode)
		}
	}
}

// breakTest changes the first test of a document, so that it expects another verdict than the
// policy returns.
func breakTest(t *testing.T, document string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	broken := string(text)
	for _, pair := range [][2]string{{`expect = "allow"`, `expect = "hold"`}, {`expect = "pass"`, `expect = "drop"`}, {`expect = "abstain"`, `expect = "reject"`}} {
		broken = strings.Replace(broken, pair[0], pair[1], 1)
	}
	if broken == string(text) {
		t.Fatal("nothing is broken")
	}
	if err := os.WriteFile(document, []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
}
