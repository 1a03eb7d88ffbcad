package file

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// writeSlowly writes a pod in pieces. After each piece the file is a valid pod.
func writeSlowly(t *testing.T, f *os.File) {
	t.Helper()
	for _, piece := range []string{strings.TrimSuffix(manifestOf("a", "pre"), "\n"), "fix", "es", "/are", "/pods", ":1"} {
		_, err := f.WriteString(piece)
		must(t, err)
		time.Sleep(30 * time.Millisecond)
	}
	must(t, f.Close())
}

func TestAFileWrittenInPlaceIsReadWhenItStandsStill(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule    string
		existed bool
		open    func(path string) (*os.File, error)
	}{
		{"a new file", false, os.Create},
		{"a file that is written over", true, func(path string) (*os.File, error) {
			return os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
		}},
		{"a file that is removed and created again", true, func(path string) (*os.File, error) {
			if err := os.Remove(path); err != nil {
				return nil, err
			}
			return os.Create(path)
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "a.yaml")
			if tc.existed {
				write(t, path, manifestOf("a", "old"))
			}
			s, k := started(t, dir)
			s.cfg.Settle = time.Second
			run(t, s, k)
			want := k.all()
			f, err := tc.open(path)
			must(t, err)
			writeSlowly(t, f)
			want = append(want, delivery{Changed: []string{"a.yaml#0 a prefixes/are/pods:1"}})
			eventually(t, len(want), func() int { return len(k.all()) })
			if diff := cmp.Diff(want, k.all()); diff != "" {
				t.Errorf("deliveries (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFileThatAWriterHasOpenIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	f, err := os.Create(path)
	must(t, err)
	t.Cleanup(func() { f.Close() })
	_, err = f.WriteString(strings.TrimSuffix(manifestOf("a", "prefix"), "\n"))
	must(t, err)
	now := time.Now().Add(time.Second)
	s, k := newSource(dir, DefaultSettle, func(c *Config) { c.Now = func() time.Time { return now } })
	s.next = now.Add(time.Hour)
	look := func(after time.Duration) {
		t.Helper()
		now = now.Add(after)
		must(t, s.look(t.Context()))
	}
	look(0)
	look(openPatience / 2)
	if diff := cmp.Diff([]string{"a.yaml#* a.yaml: the file is still being written"}, k.has()); diff != "" {
		t.Errorf("while a writer has it open (-want +got):\n%s", diff)
	}
	look(openPatience)
	if diff := cmp.Diff([]string{"a.yaml#0 a prefix"}, k.has()); diff != "" {
		t.Errorf("when it has stood still for very long (-want +got):\n%s", diff)
	}
	_, err = f.WriteString("es:1")
	must(t, err)
	look(time.Second)
	look(time.Second)
	if diff := cmp.Diff([]string{"a.yaml#0 a prefix"}, k.has()); diff != "" {
		t.Errorf("while the writer goes on (-want +got):\n%s", diff)
	}
	must(t, f.Close())
	look(time.Second)
	if diff := cmp.Diff([]string{"a.yaml#0 a prefixes:1"}, k.has()); diff != "" {
		t.Errorf("once it is closed (-want +got):\n%s", diff)
	}
}

func TestAFileWrittenInPlaceIsReadOneSettleTimeAfterItsLastWrite(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule, before string
		flag         int
	}{
		{"a new file", "", os.O_CREATE},
		{"a file that is cut off and written again", manifestOf("a", "old"), os.O_TRUNC},
		{"a file that is written over", manifestOf("a", "old"), 0},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "a.yaml")
			if tc.before != "" {
				write(t, path, tc.before)
			}
			clock := time.Now().Add(time.Hour)
			s, k := started(t, dir, func(c *Config) { c.Now = func() time.Time { return clock } })
			before := k.all()
			f, err := os.OpenFile(path, os.O_WRONLY|tc.flag, 0o600)
			must(t, err)
			defer f.Close()
			look := func() {
				takeEvents(t, s)
				must(t, s.look(t.Context()))
			}
			look()
			_, err = f.WriteString(manifestOf("a", "new"))
			must(t, err)
			takeEvents(t, s)
			clock = clock.Add(slow - 1)
			must(t, s.look(t.Context()))
			if diff := cmp.Diff(before, k.all()); diff != "" {
				t.Fatalf("too soon (-want +got):\n%s", diff)
			}
			clock = clock.Add(1)
			must(t, s.look(t.Context()))
			want := slices.Concat(before, []delivery{{Changed: []string{"a.yaml#0 a new"}}})
			if diff := cmp.Diff(want, k.all()); diff != "" {
				t.Errorf("too late (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAWriteWhoseEventIsNotThereYetStartsTheSettleTimeAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	write(t, path, manifestOf("a", "old"))
	clock := time.Now().Add(time.Hour)
	s, k := started(t, dir, func(c *Config) { c.Now = func() time.Time { return clock } })
	before := k.all()
	write(t, path, strings.TrimSuffix(manifestOf("a", "pre"), "\n"))
	takeEvents(t, s)
	clock = clock.Add(slow)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.WriteString("fix")
	must(t, errors.Join(err, f.Close()))
	must(t, s.look(t.Context()))
	if diff := cmp.Diff(before, k.all()); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

func TestWithoutEventsAFileWrittenInPlaceStillSettles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, k := newSource(dir, time.Second, func(c *Config) { c.Period = 10 * time.Millisecond })
	s.watch.Open = func() (*fswatch.Backend, error) { return nil, os.ErrPermission }
	run(t, s, k)
	f, err := os.Create(filepath.Join(dir, "a.yaml"))
	must(t, err)
	writeSlowly(t, f)
	want := []delivery{{Replace: true}, {Changed: []string{"a.yaml#0 a prefixes/are/pods:1"}}}
	eventually(t, want, k.all)
}

func TestTheFirstSnapshotWaitsForAFileThatIsBeingWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "a.yaml"))
	must(t, err)
	write(t, filepath.Join(dir, "b.yaml"), manifestOf("b", "whole"))
	s, k := newSource(dir, time.Second)
	run(t, s, nil)
	writeSlowly(t, f)
	eventually(t, []delivery{{Replace: true, Changed: []string{"a.yaml#0 a prefixes/are/pods:1", "b.yaml#0 b whole"}}}, k.all)
}

func TestAFileThatNeverSettlesIsHeldInTheFirstSnapshot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	write(t, path, manifestOf("a", "some"))
	write(t, filepath.Join(dir, "b.yaml"), manifestOf("b", "whole"))
	s, k := newSource(dir, 200*time.Millisecond)
	run(t, s, nil)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	for len(k.all()) == 0 {
		_, err := f.WriteString("# more\n")
		must(t, err)
		time.Sleep(5 * time.Millisecond)
	}
	want := []delivery{{Replace: true, Changed: []string{"a.yaml#* a.yaml: the file is still being written", "b.yaml#0 b whole"}}}
	if diff := cmp.Diff(want, k.all()); diff != "" {
		t.Fatalf("deliveries (-want +got):\n%s", diff)
	}
	must(t, f.Close())
	want = append(want, delivery{Changed: []string{"a.yaml#0 a some"}})
	eventually(t, want, k.all)
}

func TestSettlingIsSafeFromJumpsOfTheClock(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(mtime time.Time) entry {
		return entry{name: "a.yaml", stamp: fswatch.Stamp{Inode: fswatch.Inode{Ino: 1}, Size: 1, Mtime: mtime.UnixNano()}}
	}
	const year = 365 * 24 * time.Hour
	for _, tc := range []struct {
		rule    string
		mtime   time.Time
		settled bool
	}{
		{"old by its own word", now.Add(-time.Second), true},
		{"written just now", now.Add(-time.Millisecond), false},
		{"written in the future", now.Add(10 * year), false},
	} {
		f := &file{quiet: now}
		f.see(at(tc.mtime), 0, false, now)
		if got := f.settled(now, DefaultSettle); got != tc.settled {
			t.Errorf("%s: settled %v", tc.rule, got)
		}
		// If the wall clock is set back, the monotonic clock still advances.
		later := now.Add(DefaultSettle)
		f.see(at(tc.mtime), 0, false, later)
		if !f.settled(later, DefaultSettle) {
			t.Errorf("%s: not settled after the settle time", tc.rule)
		}
	}
}

func TestTimesOfAKnownFileProveNothing(t *testing.T) {
	t.Parallel()
	now := time.Now()
	old := fswatch.Stamp{Inode: fswatch.Inode{Ino: 1}, Size: 9, Mtime: now.Add(-time.Hour).UnixNano()}
	f := &file{quiet: now}
	f.see(entry{stamp: old}, 0, false, now)
	if !f.settled(now, DefaultSettle) {
		t.Fatal("an old file does not count as settled")
	}
	// While a file is being truncated, it has its new size and its old times.
	old.Size = 0
	f.see(entry{stamp: old}, 0, false, now)
	if f.settled(now, DefaultSettle) {
		t.Error("a file that is being cut off counts as settled")
	}
	// A file that arrived whole does not count as whole after a change, even one without an
	// event.
	f.see(entry{stamp: old}, moved, true, now)
	if !f.settled(now, DefaultSettle) {
		t.Fatal("a file that was moved into place is not read at once")
	}
	old.Size++
	f.see(entry{stamp: old}, 0, false, now)
	if f.settled(now, DefaultSettle) {
		t.Error("a file that changed since it arrived counts as whole")
	}
}

func TestAnUnchangedFileIsNotReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	replace(t, path, manifestOf("a", "one"))
	s, _ := started(t, dir)
	f := s.files["a.yaml"]
	if !f.stale() {
		t.Error("a file that was written within the last step of a coarse clock is not read again")
	}
	// A minute later, the stamp is certain.
	s.cfg.Now = func() time.Time { return time.Now().Add(time.Minute) }
	s.relist = true
	must(t, s.look(t.Context()))
	if f.stale() {
		t.Error("an unchanged file is read again")
	}
	must(t, os.Chmod(path, 0o644))
	_, entries, err := s.list()
	must(t, err)
	f.see(entries[0], 0, false, s.cfg.Now())
	if !f.stale() {
		t.Error("a file whose mode changed is not read again")
	}
}
