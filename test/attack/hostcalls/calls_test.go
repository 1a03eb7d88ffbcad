package main

import (
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestMain(m *testing.M) {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// offered returns the functions that docs/abi.md lists below a heading.
func offered(t *testing.T, heading string) (names []string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("docs/abi.md has no heading %q", heading)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(part, -1) {
		for _, name := range regexp.MustCompile("`([a-z_0-9]+)").FindAllStringSubmatch(row[1], -1) {
			names = append(names, name[1])
		}
	}
	return names
}

func TestCalls_everyFunctionIsMeasured(t *testing.T) {
	t.Parallel()
	want := append(offered(t, "Imports of `wardlet1`"), offered(t, "WASI")...)
	// proc_exit terminates the call: its cost is measured and charged when the instance is
	// replaced.
	want = slices.DeleteFunc(want, func(name string) bool { return name == "proc_exit" })
	var got []string
	for _, c := range calls() {
		got = append(got, c.of.Name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("(-docs/abi.md +calls):\n%s", diff)
	}
}

// TestCalls_pluginsAnswer calls each function once with its first input, for each kind of owner.
func TestCalls_pluginsAnswer(t *testing.T) {
	t.Parallel()
	engine, err := wasm.NewEngine(t.TempDir()+"/compiled", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	seen := map[string]bool{}
	for _, c := range calls() {
		if seen[c.of.Name] {
			continue
		}
		seen[c.of.Name] = true
		for _, owner := range []string{"", "red"} {
			p, err := engine.Load(t.Context(), c.module(1), c.options(owner))
			if err != nil {
				t.Errorf("%s: %v", c.name(), err)
				continue
			}
			if r, err := p.Admit(t.Context(), c.question()); err != nil || !c.atInit && r.Fuel < 100 {
				t.Errorf("%s: it takes %d units, %v", c.name(), r.Fuel, err)
			}
			p.Close()
		}
	}
}
