package file

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
)

func TestOnlyWhatTheKernelToldOfIsLookedAt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 20 {
		replace(t, filepath.Join(dir, fmt.Sprintf("%d.yaml", i)), manifestOf(fmt.Sprint("n", i), "i"))
	}
	must(t, os.Symlink("3.yaml", filepath.Join(dir, "link.yaml")))
	s, k := started(t, dir)
	replace(t, filepath.Join(dir, "7.yaml"), manifestOf("n7", "j"))
	must(t, os.Remove(filepath.Join(dir, "8.yaml")))
	write(t, filepath.Join(dir, "notes.txt"), "no manifest")
	takeEvents(t, s)
	names, ok := s.glance(s.cfg.Now())
	if diff := cmp.Diff([]string{"7.yaml", "8.yaml", "link.yaml"}, names); !ok || diff != "" {
		t.Errorf("looked at: all is listed: %v (-want +got):\n%s", !ok, diff)
	}
	must(t, s.lookAmong(t.Context(), names, s.cfg.Now()))
	if got, want := len(k.has()), 21; got != want {
		t.Errorf("%d documents while the absence of one does not count yet, want %d", got, want)
	}
	s.cfg.Settle = time.Nanosecond
	must(t, s.look(t.Context()))
	if got, want := len(k.has()), 20; got != want {
		t.Errorf("%d documents, want %d", got, want)
	}
}

func TestAllIsListedWhenEventsMayHaveBeenMissed(t *testing.T) {
	t.Parallel()
	for rule, harm := range map[string]func(t *testing.T, s *Source){
		"at the period":                    func(_ *testing.T, s *Source) { s.listed = s.listed.Add(-s.cfg.Period) },
		"when the clock was set back":      func(_ *testing.T, s *Source) { s.listed = s.listed.Add(24 * time.Hour) },
		"after events were lost":           func(_ *testing.T, s *Source) { s.noteGap(errors.New("queue overflow"), true) },
		"without a watch":                  func(_ *testing.T, s *Source) { s.stopWatching() },
		"when there is a watch again":      func(_ *testing.T, s *Source) { s.loseWatch(); s.watch.retry = time.Time{}; s.keepWatching() },
		"when the directory is another":    func(t *testing.T, s *Source) { t.Helper(); exchange(t, s.cfg.Path) },
		"while the path cannot be listed":  func(_ *testing.T, s *Source) { s.failing = s.cfg.Now() },
		"until there was a first snapshot": func(_ *testing.T, s *Source) { s.snapshot = false },
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "manifests")
			must(t, os.Mkdir(dir, 0o700))
			replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "i"))
			s, _ := started(t, dir)
			s.relist = false
			if _, ok := s.glance(s.cfg.Now()); !ok {
				t.Fatal("all is listed for no reason")
			}
			harm(t, s)
			if names, ok := s.glance(s.cfg.Now()); ok {
				t.Errorf("only %q are looked at", names)
			}
		})
	}
}

// exchange replaces a directory with a new, empty one.
func exchange(t *testing.T, dir string) {
	t.Helper()
	must(t, os.Rename(dir, dir+".old"))
	must(t, os.Mkdir(dir, 0o700))
}

func TestWhateverHappensInADirectoryIsFoundByEvents(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			dir, aside := t.TempDir(), t.TempDir()
			s, k := newSource(dir, 20*time.Millisecond)
			run(t, s, k)
			for range 150 {
				disturb(t, random, dir, aside)
			}
			fresh, want := newSource(dir, time.Nanosecond)
			deadline := time.Now().Add(10 * time.Second)
			for {
				must(t, fresh.listAll(t.Context()))
				diff := cmp.Diff(want.unheld(want), k.unheld(want), cmpEmpty)
				if diff == "" {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("documents (-listed +found by events):\n%s", diff)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
}

// unheld returns the documents of the sink, without those of files that the other sink holds:
// pods of a held file run on.
func (s *sink) unheld(other *sink) []string {
	held := map[string]bool{}
	for _, text := range other.has() {
		if file, _, ok := strings.Cut(text, api.HoldSuffix+" "); ok {
			held[file] = true
		}
	}
	return slices.DeleteFunc(s.has(), func(text string) bool {
		file, _, _ := strings.Cut(text, "#")
		return held[file]
	})
}

// disturb makes one random change to the manifests of a directory, or waits for a moment.
func disturb(t *testing.T, random *rand.Rand, dir, aside string) {
	t.Helper()
	name := func() string { return filepath.Join(dir, fmt.Sprintf("%d.yaml", random.IntN(5))) }
	text := manifestOf(fmt.Sprint("n", random.IntN(5)), fmt.Sprint("i", random.IntN(1000)))
	var err error
	switch random.IntN(11) {
	case 0, 1:
		err = os.WriteFile(name(), []byte(text), 0o600)
	case 2, 3:
		temp := filepath.Join(aside, "new")
		must(t, os.WriteFile(temp, []byte(text), 0o600))
		err = os.Rename(temp, name())
	case 4:
		err = os.Remove(name())
	case 5:
		err = os.Rename(name(), name())
	case 6:
		err = os.Symlink(name(), name())
	case 7, 9, 10:
		err = os.Link(name(), name())
	case 8:
		time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
	}
	_ = err // a change that fails is skipped
}
