package bundle

import (
	"errors"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestAnEventThatConcernsNoPolicyDisturbsNothing(t *testing.T) {
	t.Parallel()
	w := NewWatch("/policies", 10*time.Second, nil)
	names := map[string]fswatch.Stamp{".": {}, "p.toml": {}, "p.wasm": {}, "tests/a.yaml": {}}
	for name, want := range map[string]bool{
		"/policies":               true,
		"/policies/p.toml":        true,
		"/policies/new.toml":      true,
		"/policies/p.wasm":        true,
		"/policies/tests/a.yaml":  true,
		"/policies/tests":         true,
		"/policies/.p.toml.swp":   false,
		"/policies/README.md":     false,
		"/policies/tests/b.yaml":  false,
		"/policies/test":          false,
		"/elsewhere":              false,
		"/policies-old/p.toml":    false,
		"/policies/.hidden.toml":  false,
		"/policies/other.wasm":    false,
		"/policies/#p.toml#":      false,
		"/policies/deep/new.yaml": false,
	} {
		if got := w.Concerns(fsnotify.Event{Name: name}, names); got != want {
			t.Errorf("%s concerns = %t, want %t", name, got, want)
		}
	}
}

func TestWithoutAWatchItIsTriedAgain(t *testing.T) {
	t.Parallel()
	d, l := policytest.NewTree(t), &policytest.Logs{}
	w := NewWatch(d.Dir, 10*time.Second, l.Logger())
	open := w.Open
	w.Open = func() (*fswatch.Backend, error) { return nil, errors.New("no watches left") }
	w.Aim(nil)
	w.Aim(nil)
	if w.Events() != nil || w.Errors() != nil {
		t.Error("there are events without a watch")
	}
	w.Open = open
	w.Aim(nil)
	w.Aim(nil)
	defer w.Close()
	if diff := cmp.Diff([]string{d.Dir}, w.Dirs()); diff != "" {
		t.Errorf("watched (-want +got):\n%s", diff)
	}
	if l.Count("cannot be watched") != 1 || l.Count("watched again") != 1 {
		t.Errorf("log: %q", l.Lines())
	}
}
