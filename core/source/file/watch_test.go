package file

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
)

func TestAnEventMakesAFileBeReadWhoseStampIsUnchanged(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule string
		note func(s *Source) bool
		// look is true if the event makes the source look at once.
		look bool
	}{
		{"a write", func(s *Source) bool {
			return s.note(fsnotify.Event{Name: s.pathOf("a.yaml"), Op: fsnotify.Write}, true)
		}, false},
		{"a gap in the events", func(s *Source) bool { return s.noteGap(fsnotify.ErrEventOverflow, true) }, true},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "a.yaml")
			write(t, path, manifestOf("a", "one"))
			s, k := started(t, dir)
			// The file changes without a new stamp, as on a file system with coarse times.
			write(t, path, manifestOf("a", "two"))
			_, entries, err := s.list()
			must(t, err)
			f := s.files["a.yaml"]
			f.racy, f.stamp, f.read = false, entries[0].stamp, entries[0].stamp
			must(t, s.look(t.Context()))
			if got := k.has()[0]; got != "a.yaml#0 a one" {
				t.Fatalf("read without a reason: %s", got)
			}
			if look := tc.note(s); look != tc.look {
				t.Errorf("looks at once: %v", look)
			}
			s.cfg.Settle = time.Nanosecond
			must(t, s.look(t.Context()))
			if got := k.has()[0]; got != "a.yaml#0 a two" {
				t.Errorf("not read again: %s", got)
			}
		})
	}
}

func TestAWatchThatEndsIsMadeAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "one"))
	s, k := started(t, dir)
	s.stopWatching()
	opened, backends := make(chan time.Time, 10), make(chan *fswatch.Backend, 10)
	s.watch.Open = func() (*fswatch.Backend, error) {
		opened <- time.Now()
		b, err := fswatch.Inotify()
		backends <- b
		return b, err
	}
	s.keepWatching()
	ended := <-opened
	must(t, (<-backends).Close())
	run(t, s, k)
	if waited := (<-opened).Sub(ended); waited < watchDelays.Min {
		t.Errorf("made again after %v: what fails at once is tried without end", waited)
	}
	eventually(t, []string{"a.yaml#0 a two"}, func() []string {
		replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "two"))
		return k.has()
	})
}

func TestRunEndsWithTheErrorOfItsSink(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	s := New(Config{Name: "local", Path: t.TempDir(), NodeName: "node", Sink: failingSink{broken}})
	if err := s.Run(t.Context()); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

type failingSink struct{ err error }

func (f failingSink) Replace(context.Context, []api.Document) error         { return f.err }
func (f failingSink) Apply(context.Context, []api.Document, []string) error { return f.err }
func (failingSink) Health(error)                                            {}
