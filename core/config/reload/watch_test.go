package reload

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// watchedFile returns a file whose changes the kernel reports. The periodic look is too late for
// these tests.
func watchedFile(t *testing.T) *followed {
	t.Helper()
	f := newFollowed(t)
	f.r.watch.Open = fswatch.Inotify
	return f
}

// ready runs the Reloader and waits until it has read the file for the first time.
func (f *followed) ready() {
	f.t.Helper()
	f.run()
	if _, err := f.r.Ask(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.said()
}

func TestTheKernelTellsOf(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*followed) error{
		"another file in its place": func(f *followed) error { f.replace(debugging); return nil },
		"a file that is written to": func(f *followed) error { return os.WriteFile(f.path, []byte(debugging), 0o600) },
		"one that went and came": func(f *followed) error {
			return errors.Join(os.Remove(f.path), os.WriteFile(f.path, []byte(debugging), 0o600))
		},
		"a link in its place": func(f *followed) error {
			other := filepath.Join(f.t.TempDir(), "other.toml")
			return errors.Join(os.WriteFile(other, []byte(debugging), 0o600), os.Remove(f.path), os.Symlink(other, f.path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := watchedFile(t)
			f.ready()
			f.must(change(f))
			f.hears(levelLine("info", "debug"))
		})
	}
}

func TestTheKernelTellsOfAFileThatGoesAndComesBack(t *testing.T) {
	t.Parallel()
	f := watchedFile(t)
	f.ready()
	f.must(os.Remove(f.path))
	f.hears("no such file or directory")
	f.replace(debugging)
	f.hears(levelLine("info", "debug"))
}

// A ConfigMap volume is a directory behind a link that is replaced. Its file names are links
// through that link.
func TestAConfigMapIsFollowed(t *testing.T) {
	t.Parallel()
	f := watchedFile(t)
	version := func(n int, text string) {
		dir := fmt.Sprintf("..version%d", n)
		f.must(os.Mkdir(filepath.Join(f.dir, dir), 0o700))
		f.must(os.WriteFile(filepath.Join(f.dir, dir, "agent.toml"), []byte(text), 0o600))
		f.must(os.Symlink(dir, filepath.Join(f.dir, "..data_tmp")))
		f.must(os.Rename(filepath.Join(f.dir, "..data_tmp"), filepath.Join(f.dir, "..data")))
	}
	version(0, firstSource)
	f.must(os.Remove(f.path))
	f.must(os.Symlink("..data/agent.toml", f.path))
	f.ready()
	for n, step := range []struct{ text, want string }{
		{debugging, levelLine("info", "debug")},
		{"lvel = 1\n" + firstSource, "unknown key"},
		{firstSource, levelLine("debug", "info")},
	} {
		version(n+1, step.text)
		f.must(os.RemoveAll(filepath.Join(f.dir, fmt.Sprintf("..version%d", n))))
		f.hears(step.want)
	}
}

func TestTheLastOfAHundredFilesIsInForce(t *testing.T) {
	t.Parallel()
	f := watchedFile(t)
	f.r.load = func(path string) (*config.Config, error) {
		cfg, err := config.Load(path)
		if err != nil {
			t.Errorf("half of a file was read: %v", err)
		}
		return cfg, err
	}
	f.ready()
	levels := []string{"warn", "info", "debug"}
	for i := range 100 {
		f.replace(fmt.Sprintf("log_level = %q\n%s# %d\n", levels[i%len(levels)], firstSource, i))
	}
	f.replace("log_level = \"info\"\n" + firstSource + "[runtime]\nresolv_conf = \"/last\"\n")
	f.hears("in_file=/last")
	f.stop()
	if got := f.r.inForce.LogLevel; got != "info" || f.level.Level() != 0 {
		t.Errorf("in force is %s, at level %s", got, f.level.Level())
	}
}

// Two different files have different stamps. Reading a file does not change its stamp.
func TestStamps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	first := stampOf(path)
	if _, err := os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if got := stampOf(path); got != first {
		t.Errorf("reading changed %+v to %+v", first, got)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("f", link); err != nil {
		t.Fatal(err)
	}
	if got := stampOf(link); got != first {
		t.Errorf("a link has %+v, what it leads to %+v", got, first)
	}
	if got := stampOf(filepath.Join(dir, "none")); got != (stamp{}) {
		t.Errorf("no file has %+v", got)
	}
	if got := stampOf(dir); !got.there || got.regular {
		t.Errorf("a directory has %+v", got)
	}
	write("ab")
	longer := stampOf(path)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	aged := stampOf(path)
	if longer == first || aged == longer {
		t.Errorf("stamps %+v, longer %+v, of another time %+v", first, longer, aged)
	}
}

func TestEventsThatConcernTheFile(t *testing.T) {
	t.Parallel()
	w := newFileWatch("etc/agent.toml", nil)
	for _, test := range []struct {
		name string
		op   fsnotify.Op
		want bool
	}{
		{"etc/agent.toml", fsnotify.Write, true},
		{"./etc/agent.toml", fsnotify.Chmod, true},
		{"etc/..data", fsnotify.Create, true},
		{"etc/agent.toml.swp", fsnotify.Rename, true},
		{"etc", fsnotify.Remove, true},
		{"etc/other", fsnotify.Write, false},
		{"etc/other", fsnotify.Chmod, false},
	} {
		if got := w.concerns(fsnotify.Event{Name: test.name, Op: test.op}); got != test.want {
			t.Errorf("%s of %s concerns = %t, want %t", test.op, test.name, got, test.want)
		}
	}
}

func TestTheDirectoryIsWatchedAgainWhenAnotherTookItsPlace(t *testing.T) {
	t.Parallel()
	f := newFollowed(t)
	var added []string
	closed := 0
	fault := error(nil)
	f.r.watch.Open = func() (*fswatch.Backend, error) {
		return &fswatch.Backend{
			Add:   func(dir string) error { added = append(added, dir); return fault },
			List:  func() []string { return nil },
			Close: func() error { closed++; return nil },
		}, nil
	}
	f.r.watch.aim()
	f.r.watch.aim()
	if diff := cmp.Diff([]string{f.dir, f.dir}, added); diff != "" {
		t.Errorf("watched (-want +got):\n%s", diff)
	}
	fault = fmt.Errorf("cannot watch: %w", fs.ErrNotExist) // the directory may appear later
	f.r.watch.aim()
	f.says()
	fault = errors.New("no space left")
	f.r.watch.aim()
	f.r.watch.aim()
	if said := f.said(); len(said) != 1 {
		t.Errorf("log %q", said)
	}
	f.r.watch.Close()
	f.r.watch.Close()
	if closed != 1 || f.r.watch.Events() != nil || f.r.watch.Errors() != nil {
		t.Errorf("closed %d times", closed)
	}
}
