package attack

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

func TestThereIsAnAttackForEveryWayToEnd(t *testing.T) {
	all := modules(t)
	const least = 50
	if len(all) < least {
		t.Errorf("%d attacks, at least %d are wanted", len(all), least)
	}
	atLoad, asked := map[abi.FailureCode]int{}, map[abi.FailureCode]int{}
	for _, m := range all {
		if m.Refused != nil {
			atLoad[m.Refused.Code]++
		}
		for i := range m.Questions {
			asked[m.Questions[i].Want.Code]++
		}
	}
	t.Logf("%d attacks; refused: %v; asked: %v", len(all), atLoad, asked)
	for _, code := range codes {
		if atLoad[code]+asked[code] == 0 {
			t.Errorf("no attack ends with %s", code)
		}
	}
}

func TestEveryAttackIsAnother(t *testing.T) {
	seen := map[string]string{}
	for _, m := range modules(t) {
		if other, ok := seen[string(m.Binary)]; ok {
			t.Errorf("%s and %s are the same module", m.Name, other)
		}
		seen[string(m.Binary)] = m.Name
	}
}

func TestSourcesAreSortedAndWhole(t *testing.T) {
	all := modules(t)
	if !slices.IsSortedFunc(all, func(a, b *Module) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the modules are not sorted by name")
	}
	for _, m := range all {
		if !strings.HasPrefix(string(m.Binary), "\x00asm") || len(m.What) < 10 {
			t.Errorf("%s: %d bytes, %q", m.Name, len(m.Binary), m.What)
		}
	}
}

func TestWithoutTheAssemblerTheErrorSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Modules(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "run tools/setup.sh guests") {
		t.Errorf("error %v", err)
	}
}

func TestWhatCannotBeAssembledIsNamed(t *testing.T) {
	t.Parallel()
	const header = ";; It does nothing.\n;; answers: allow\n"
	_, err := assembled(t.Context(), t.TempDir(), map[string]string{
		"torn": header + "(module", "mute": "(module)", "fine": header + "(module)",
	})
	for _, want := range []string{"torn.wat: wat2wasm: exit status 1: ", "unexpected token", "mute.wat: mute: the source does not begin with a comment"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "fine") {
		t.Errorf("error %v", err)
	}
}

func TestWhatWasAssembledIsKept(t *testing.T) {
	dir := t.TempDir()
	first, err := assemble(t.Context(), dir, "(module)", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir()) // from now on there is no assembler
	again, err := assemble(context.Background(), dir, "(module)", nil)
	if err != nil || string(again) != string(first) {
		t.Errorf("%q, %v; want %q", again, err, first)
	}
	if _, err := assemble(t.Context(), dir, "(module)", []string{"threads"}); err == nil {
		t.Error("assembled with other features, it is taken for the same")
	}
	if files, err := filepath.Glob(dir + "/new-*"); err != nil || len(files) > 0 {
		t.Errorf("left over: %v, %v", files, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}
