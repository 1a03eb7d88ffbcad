package fswatch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWatch_onlyFollowsWhatIsAsked(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	a, b, none := filepath.Join(top, "a"), filepath.Join(top, "b"), filepath.Join(top, "none")
	for _, dir := range []string{a, b} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w := &Watch{}
	if w.Events() != nil || w.Errors() != nil || w.Started() || w.Dirs() != nil {
		t.Error("a watch that was not started has something")
	}
	defer w.Close()
	for _, want := range [][]string{{a}, {a, b}, {b}} {
		if err := w.Only(append(want, none)...); err != nil {
			t.Fatal(err)
		}
		got := w.Dirs()
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("watched (-want +got):\n%s", diff)
		}
	}
	if w.Watches(a) || !w.Watches(b) {
		t.Errorf("watched are %v", w.Dirs())
	}
	if err := os.WriteFile(filepath.Join(b, "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	select {
	case e := <-w.Events():
		if e.Name != filepath.Join(b, "x") {
			t.Errorf("event of %s", e.Name)
		}
	case err := <-w.Errors():
		t.Error(err)
	case <-t.Context().Done():
		t.Error("no event")
	}
	w.Close()
	w.Close()
	if made, err := w.Start(); !made || err != nil {
		t.Errorf("started again: %t, %v", made, err)
	}
	if made, err := w.Start(); made || err != nil {
		t.Errorf("started twice: %t, %v", made, err)
	}
}

func TestWatch_faults(t *testing.T) {
	t.Parallel()
	full := errors.New("no watches left")
	w := &Watch{Open: func() (*Backend, error) { return nil, full }}
	if err := w.Only(t.TempDir()); !errors.Is(err, full) || w.Started() {
		t.Errorf("error is %v", err)
	}
	w.Open = func() (*Backend, error) {
		return &Backend{Add: func(string) error { return full }, List: func() []string { return nil }, Close: func() error { return nil }}, nil
	}
	if err := w.Only("dir"); !errors.Is(err, full) {
		t.Errorf("error is %v", err)
	}
	w.Close()
	for i, step := range []struct {
		err  error
		news bool
	}{{nil, false}, {full, true}, {full, false}, {nil, true}, {nil, false}} {
		if got := w.Failed(step.err); got != step.news {
			t.Errorf("step %d: news %t, want %t", i, got, step.news)
		}
	}
}

func TestStampOf(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	stamp := func(text string) Stamp {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return StampOf(info)
	}
	first, longer := stamp("a"), stamp("ab")
	if first == longer || first.Inode != longer.Inode || first.Inode == (Inode{}) {
		t.Errorf("stamps are %+v and %+v", first, longer)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if again := StampOf(info); again.Content() != longer.Content() || time.Since(again.Changed()) > time.Hour {
		t.Errorf("after chmod %+v, changed %s", again, again.Changed())
	}
	if !(Stamp{}).Changed().IsZero() {
		t.Error("no file has a time")
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := start.Add
	s := Settle{Time: 100 * time.Millisecond, Restless: 10 * time.Second}
	if s.Begun() {
		t.Error("it has begun before the first look")
	}
	s.Changed(start)
	for name, test := range map[string]struct {
		last, now time.Duration
		want      bool
	}{
		"just changed":                        {0, 99 * time.Millisecond, false},
		"stood still":                         {0, 100 * time.Millisecond, true},
		"changed long ago by its own times":   {-time.Hour, time.Millisecond, true},
		"times in the future, seen long ago":  {time.Hour, 100 * time.Millisecond, true},
		"times in the future, just seen thus": {time.Hour, time.Millisecond, false},
	} {
		if got := s.Still(at(test.last), at(test.now)); got != test.want || !s.Begun() {
			t.Errorf("%s: still is %t", name, got)
		}
	}
	s.Pause(time.Hour) // nothing is restless
	for i, step := range []struct {
		at   time.Duration
		want bool
	}{{0, false}, {10*time.Second - 1, false}, {10 * time.Second, true}} {
		if got := s.Unrest(at(step.at)); got != step.want {
			t.Errorf("step %d: too long is %t", i, got)
		}
	}
	s.Pause(time.Second)
	if s.Unrest(at(10 * time.Second)) {
		t.Error("a pause counts as unrest")
	}
	s.Rest()
	if s.Unrest(at(time.Hour)) {
		t.Error("unrest goes on after rest")
	}
}

// TestWatch_linkThatIsSwappedToAWatchedDirectory covers a panic of fsnotify: it drops the watch of the
// former directory of the link, but not the name of the link.
func TestWatch_linkThatIsSwappedToAWatchedDirectory(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	a, b, link := filepath.Join(top, "a"), filepath.Join(top, "b"), filepath.Join(top, "link")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(a, 0o700))
	must(os.Mkdir(b, 0o700))
	w := &Watch{}
	defer w.Close()
	for _, to := range []string{b, a, b, a} {
		must(os.Symlink(to, link+".new"))
		must(os.Rename(link+".new", link))
		must(w.Only(a, link))
	}
	must(w.Only(a))
	if diff := cmp.Diff([]string{a}, w.Dirs()); diff != "" {
		t.Errorf("watched (-want +got):\n%s", diff)
	}
	must(os.WriteFile(filepath.Join(a, "x"), nil, 0o600))
	select {
	case e := <-w.Events():
		if e.Name != filepath.Join(a, "x") {
			t.Errorf("event of %s", e.Name)
		}
	case <-t.Context().Done():
		t.Error("no event")
	}
}
