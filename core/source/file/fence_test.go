package file

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAFileThatIsOpenForWritingIsKnown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.yaml")
	f, err := os.Create(path)
	must(t, err)
	if !openForWriting(path) {
		t.Error("a file with a writer counts as closed")
	}
	must(t, f.Close())
	if openForWriting(path) {
		t.Error("a closed file counts as open")
	}
	if openForWriting(path + ".gone") {
		t.Error("a file that is gone counts as open")
	}
}

func TestTheFenceLetsAllEarlierEventsPass(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, _ := started(t, dir)
	for range 100 {
		write(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "one"))
		if !s.caughtUp() {
			t.Fatal("the fence's event did not come")
		}
		if s.arrived["a.yaml"] == created {
			t.Fatal("the event of a write came after the fence's")
		}
		replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "two"))
		if !s.caughtUp() {
			t.Fatal("the fence's event did not come")
		}
		if s.arrived["a.yaml"] != created {
			t.Fatal("the event of a rename came after the fence's")
		}
		must(t, os.Remove(filepath.Join(dir, "a.yaml")))
	}
}

func TestAFileThatWasWrittenUnderItsNameIsNotTakenForMoved(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, path string){
		"written and closed": func(t *testing.T, path string) {
			t.Helper()
			write(t, path, manifestOf("a", "prefix"))
		},
		"written and still open, its event not there yet": func(t *testing.T, path string) {
			t.Helper()
			elsewhere := filepath.Join(t.TempDir(), "a")
			f, err := os.Create(elsewhere)
			must(t, err)
			t.Cleanup(func() { f.Close() })
			_, err = f.WriteString(manifestOf("a", "prefix"))
			must(t, err)
			must(t, os.Rename(elsewhere, path))
		},
	}
	for name, arrive := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, k := started(t, dir)
			arrive(t, filepath.Join(dir, "a.yaml"))
			for s.arrived["a.yaml"] != created {
				s.note(<-s.watch.Events(), true)
			}
			must(t, s.look(t.Context()))
			if got := k.has(); len(got) != 0 {
				t.Errorf("delivered %q", got)
			}
		})
	}
}

func TestWhatArrivesWhileAnotherArrivalIsLookedAtIsReadAtOnceToo(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, dir string){
		"a file": func(t *testing.T, dir string) {
			t.Helper()
			replace(t, filepath.Join(dir, "b.yaml"), manifestOf("b", "two"))
		},
		"a link further up": func(t *testing.T, dir string) {
			t.Helper()
			relink(t, "..two", filepath.Join(dir, "..data"))
		},
	}
	for name, arrive := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, version := range []string{"one", "two"} {
				must(t, os.Mkdir(filepath.Join(dir, ".."+version), 0o700))
				write(t, filepath.Join(dir, ".."+version, "b.yaml"), manifestOf("b", version))
			}
			must(t, os.Symlink("..one", filepath.Join(dir, "..data")))
			must(t, os.Symlink("..data/b.yaml", filepath.Join(dir, "b.yaml")))
			s, k := started(t, dir)
			replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "one"))
			for s.arrived["a.yaml"] != created {
				s.note(<-s.watch.Events(), true)
			}
			_, entries, err := s.list()
			must(t, err)
			arrive(t, dir)
			s.classify(entries)
			s.takeIn(entries, maps.Keys(s.files), s.cfg.Now())
			must(t, s.deliver(t.Context(), maps.Keys(s.files), s.cfg.Now()))
			if diff := cmp.Diff([]string{"a.yaml#0 a one", "b.yaml#0 b one"}, k.has()); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
			if wait := s.next.Sub(s.cfg.Now()); wait > 0 {
				t.Errorf("the next look is in %v", wait)
			}
			must(t, s.look(t.Context()))
			if diff := cmp.Diff([]string{"a.yaml#0 a one", "b.yaml#0 b two"}, k.has()); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithoutAFenceAFileThatArrivesWholeSettlesLikeAnyOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, k := started(t, dir)
	s.watch.fence.close()
	s.watch.fence = nil
	s.cfg.Settle = DefaultSettle
	run(t, s, k)
	replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "new"))
	eventually(t, []string{"a.yaml#0 a new"}, k.has)
}
