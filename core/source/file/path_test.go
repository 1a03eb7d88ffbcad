package file

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/fswatch"
	"github.com/wardlet/wardlet/core/manifest"
)

func TestWhatIsNoFileEndsNoPod(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	write(t, path, manifestOf("a", "one"))
	s, k := started(t, dir)
	must(t, os.Remove(path))
	must(t, unix.Mkfifo(path, 0o600))
	s.cfg.Settle = time.Nanosecond
	must(t, s.listAll(t.Context()))
	must(t, s.listAll(t.Context()))
	want := []string{"a.yaml#* a.yaml: it is a named pipe; only regular files are read", "a.yaml#0 a one"}
	if diff := cmp.Diff(want, k.has()); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

func TestOnlyManifestsAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.yml": manifestOf("b", "i"), "a.yaml": manifestOf("a", "i"), "c.json": "{}", "crlf.yaml": strings.ReplaceAll(manifestOf("d", "i"), "\n", "\r\n"),
		".hidden.yaml": manifestOf("x", "i"), "a.yaml~": manifestOf("x", "i"), "a.yaml.bak": manifestOf("x", "i"),
		".a.yaml.swp": "swap", "README": "text", "yaml": manifestOf("x", "i"), "a.YAML": manifestOf("x", "i"),
	} {
		write(t, filepath.Join(dir, name), text)
	}
	must(t, os.Mkdir(filepath.Join(dir, "dir.yaml"), 0o700))
	write(t, filepath.Join(dir, "dir.yaml", "x.yaml"), manifestOf("x", "i"))
	must(t, unix.Mkfifo(filepath.Join(dir, "fifo.yaml"), 0o600))
	socket, err := net.Listen("unix", filepath.Join(dir, "s.yaml"))
	must(t, err)
	defer socket.Close()
	must(t, os.Symlink("dir.yaml", filepath.Join(dir, "linkdir.yaml")))
	must(t, os.Symlink("fifo.yaml", filepath.Join(dir, "linkfifo.yaml")))
	must(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero.yaml")))
	must(t, os.Symlink("README.not", filepath.Join(dir, "dangling.yaml")))
	must(t, os.Symlink("loop.yaml", filepath.Join(dir, "loop.yaml")))
	must(t, os.Symlink("a.yaml.bak", filepath.Join(dir, "link.yaml")))

	_, k := started(t, dir)
	want := []delivery{{Replace: true, Changed: []string{
		"a.yaml#0 a i",
		"b.yml#0 b i",
		"c.json#0 c.json:1: apiVersion is missing; a pod has apiVersion v1 and kind Pod",
		"c.json#* c.json:1: which pods the file holds is uncertain; those it held before go on until this is mended",
		"crlf.yaml#0 d i",
		"dangling.yaml#* dangling.yaml: stat dangling.yaml: no such file or directory",
		"dir.yaml#* dir.yaml: it is a directory; only regular files are read",
		"fifo.yaml#* fifo.yaml: it is a named pipe; only regular files are read",
		"link.yaml#0 x i",
		"linkdir.yaml#* linkdir.yaml: it is a directory; only regular files are read",
		"linkfifo.yaml#* linkfifo.yaml: it is a named pipe; only regular files are read",
		"loop.yaml#* loop.yaml: stat loop.yaml: too many levels of symbolic links",
		"s.yaml#* s.yaml: it is a socket; only regular files are read",
		"zero.yaml#* zero.yaml: it is a device; only regular files are read",
	}}}
	if diff := cmp.Diff(want, k.all()); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

func TestAFileThatCannotBeReadKeepsWhatItHad(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule   string
		damage func(t *testing.T, path string)
		want   string
	}{
		{"a link that leads nowhere", func(t *testing.T, path string) {
			t.Helper()
			link := filepath.Join(t.TempDir(), "link")
			must(t, os.Symlink("nowhere", link))
			must(t, os.Rename(link, path)) // the file always exists
		}, "a.yaml#* a.yaml: stat a.yaml: no such file or directory"},
		{"too large a file", func(t *testing.T, path string) {
			t.Helper()
			must(t, os.Truncate(path, manifest.MaxManifest+4096))
		}, "a.yaml#* a.yaml: larger than 10485760 bytes; split it"},
		{"a file of zeros, as after a power cut", func(t *testing.T, path string) {
			t.Helper()
			must(t, os.Truncate(path, 0))
			must(t, os.Truncate(path, 4096))
		}, "a.yaml#* a.yaml: the manifest is empty; remove it to end its pods"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "a.yaml")
			write(t, path, manifestOf("a", "i"))
			s, k := started(t, dir)
			s.cfg.Settle = time.Millisecond
			run(t, s, k)
			tc.damage(t, path)
			eventually(t, []string{tc.want, "a.yaml#0 a i"}, k.has)
			replace(t, path, manifestOf("a", "i"))
			eventually(t, []string{"a.yaml#0 a i"}, k.has)
		})
	}
}

func TestReadingNeverBlocksOnAPipe(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	must(t, unix.Mkfifo(fifo, 0o600))
	if _, _, err := readWhole(fifo); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v", err)
	}
}

func TestAMissingPathIsAnErrorAndEndsNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "manifests")
	s, k := newSource(dir, 10*time.Millisecond, func(c *Config) { c.Period = 20 * time.Millisecond })
	run(t, s, nil)
	missing := `list manifests: stat DIR: no such file or directory; create it, or set missing_path = "empty"`
	eventually(t, []string{missing}, k.healths)
	if got := k.all(); got != nil {
		t.Fatalf("delivered %v", got)
	}
	must(t, os.Mkdir(dir, 0o700))
	replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "i"))
	eventually(t, []string{"a.yaml#0 a i"}, k.has)
	must(t, os.RemoveAll(dir))
	eventually(t, []string{missing, "<nil>", missing}, k.healths)
	must(t, os.Mkdir(dir, 0o700))
	replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "i2"))
	eventually(t, []string{"a.yaml#0 a i2"}, k.has)
	for _, d := range k.all() {
		if len(d.Gone) > 0 {
			t.Errorf("gone: %v", d.Gone)
		}
	}
}

func TestAPathMayBecomeAFileAndADirectoryAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "m.yaml")
	must(t, os.Mkdir(path, 0o700))
	write(t, filepath.Join(path, "a.yaml"), manifestOf("a", "one"))
	write(t, filepath.Join(path, "m.yaml"), manifestOf("m", "one")) // the name of the directory
	s, k := newSource(path, 20*time.Millisecond, func(c *Config) { c.Period = 50 * time.Millisecond })
	run(t, s, k)
	eventually(t, []string{"a.yaml#0 a one", "m.yaml#0 m one"}, k.has)
	for range 2 {
		must(t, os.Rename(path, path+".old"))
		replace(t, path, manifestOf("f", "file"))
		eventually(t, []string{path + "#0 f file"}, k.has)
		must(t, os.Remove(path))
		must(t, os.Rename(path+".old", path))
		eventually(t, []string{"a.yaml#0 a one", "m.yaml#0 m one"}, k.has)
	}
}

func TestAMissingPathMayBeAnEmptyOne(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "manifests")
	s, k := newSource(dir, 10*time.Millisecond, func(c *Config) { c.Period, c.MissingEmpty = 20*time.Millisecond, true })
	run(t, s, k)
	must(t, os.Mkdir(dir, 0o700))
	replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "i"))
	eventually(t, []string{"a.yaml#0 a i"}, k.has)
	must(t, os.RemoveAll(dir))
	want := []delivery{{Replace: true}, {Changed: []string{"a.yaml#0 a i"}}, {Gone: []string{"a.yaml"}}}
	eventually(t, want, k.all)
	eventually(t, []string{"<nil>"}, k.healths)
}

func TestAnotherDirectoryThatIsEmptyEndsNothing(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "manifests")
	must(t, os.Mkdir(dir, 0o700))
	write(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "i"))
	s, k := newSource(dir, 10*time.Millisecond)
	run(t, s, k)
	must(t, os.Mkdir(filepath.Join(base, "other"), 0o700))
	must(t, os.Rename(dir, filepath.Join(base, "unmounted")))
	must(t, os.Rename(filepath.Join(base, "other"), dir))
	eventually(t, 2, func() int { return len(k.healths()) })
	if got := k.healths()[1]; !strings.HasPrefix(got, "list manifests: DIR is empty and not the directory it was") {
		t.Errorf("health %q", got)
	}
	if got := k.all(); len(got) != 1 {
		t.Errorf("deliveries %v", got)
	}
	// The original directory is back.
	must(t, os.Remove(dir))
	must(t, os.Rename(filepath.Join(base, "unmounted"), dir))
	eventually(t, 3, func() int { return len(k.healths()) })
	must(t, os.Remove(filepath.Join(dir, "a.yaml")))
	eventually(t, nil, k.has)
}

// memory is a Place in memory.
type memory struct {
	mu       sync.Mutex
	dev, ino uint64
	stores   int
}

func (m *memory) Load() (dev, ino uint64, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dev, m.ino, m.stores > 0, nil
}

func (m *memory) Store(dev, ino uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dev, m.ino = dev, ino
	m.stores++
	return nil
}

func (m *memory) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stores
}

func TestAnotherDirectoryThatIsEmptyEndsNothingAfterARestartEither(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir, other := filepath.Join(base, "manifests"), filepath.Join(base, "other")
	place := &memory{}
	must(t, os.Mkdir(dir, 0o700))
	write(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "i"))
	started(t, dir, func(c *Config) { c.Place = place })
	must(t, os.Mkdir(other, 0o700))

	s, k := newSource(other, 10*time.Millisecond, func(c *Config) { c.Place = place })
	run(t, s, nil)
	eventually(t, 1, func() int { return len(k.healths()) })
	if got := k.healths()[0]; !strings.HasPrefix(got, "list manifests: DIR is empty and not the directory it was") || len(k.all()) != 0 {
		t.Errorf("health %q, deliveries %v; want an error and no empty snapshot", got, k.all())
	}
	write(t, filepath.Join(other, "b.yaml"), manifestOf("b", "i"))
	eventually(t, []string{"b.yaml#0 b i"}, k.has)
	must(t, os.Remove(filepath.Join(other, "b.yaml")))
	eventually(t, nil, k.has)
	if n := place.count(); n != 2 {
		t.Errorf("the place was written %d times, want once for each directory", n)
	}
}

func TestAnotherDirectoryWithManifestsTakesOver(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir, other := filepath.Join(base, "manifests"), filepath.Join(base, "other")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Mkdir(other, 0o700))
	write(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "i"))
	write(t, filepath.Join(other, "b.yaml"), manifestOf("b", "i"))
	s, k := newSource(dir, 10*time.Millisecond)
	run(t, s, k)
	must(t, os.Rename(dir, filepath.Join(base, "old")))
	must(t, os.Rename(other, dir))
	eventually(t, []string{"b.yaml#0 b i"}, k.has)
	// The source watches the new directory now.
	replace(t, filepath.Join(dir, "b.yaml"), manifestOf("b", "i2"))
	eventually(t, []string{"b.yaml#0 b i2"}, k.has)
}

func TestASingleFileIsReadLikeADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "the.manifest")
	write(t, path, manifestOf("a", "one"))
	write(t, filepath.Join(dir, "other.yaml"), manifestOf("b", "i"))
	s, k := started(t, dir, func(c *Config) { c.Path = path })
	run(t, s, k)
	replace(t, path, manifestOf("a", "two"))
	eventually(t, []string{"the.manifest#0 a two"}, k.has)
	must(t, os.Rename(path, path+".away"))
	replace(t, path, manifestOf("a", "three"))
	eventually(t, []string{"the.manifest#0 a three"}, k.has)
	for _, d := range k.all() {
		if len(d.Gone) > 0 {
			t.Errorf("gone: %v", d.Gone)
		}
	}
}

func TestAPathThatIsNoDirectoryIsAnError(t *testing.T) {
	t.Parallel()
	s, k := newSource("/dev/null", time.Millisecond)
	run(t, s, nil)
	eventually(t, []string{"list manifests: DIR is neither a directory nor a regular file"}, k.healths)
}

func TestWithoutAWatchListingsGoOnAndItIsSaidOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log bytes.Buffer
	clock := time.Now()
	s, k := newSource(dir, time.Millisecond, func(c *Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		c.Now = func() time.Time { return clock }
	})
	broken := true
	var tries []float64
	start := clock
	s.watch.Open = func() (*fswatch.Backend, error) {
		tries = append(tries, clock.Sub(start).Seconds())
		if broken {
			return nil, errors.New("no instances left")
		}
		return fswatch.Inotify()
	}
	defer s.stopWatching()
	for range 70 {
		s.next = clock.Add(s.cfg.Period)
		s.keepWatching()
		must(t, s.look(t.Context()))
		clock = clock.Add(time.Second)
	}
	want := []float64{0, 1, 3, 7, 15, 31, 51}
	if diff := cmp.Diff(want, tries); diff != "" {
		t.Errorf("tries to watch (-want +got):\n%s", diff)
	}
	if n := strings.Count(log.String(), "cannot watch"); n != 1 {
		t.Errorf("said %d times:\n%s", n, log.String())
	}
	replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "i"))
	clock = clock.Add(time.Minute)
	broken = false
	s.keepWatching()
	must(t, s.look(t.Context()))
	if diff := cmp.Diff([]string{"a.yaml#0 a i"}, k.has()); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if !strings.Contains(log.String(), "watching again") {
		t.Errorf("log:\n%s", log.String())
	}
}

// TestIgnored_ofADirectoryThatIsEmptyByNow checks that ignored files are not reported any more
// if the path cannot be read or is another, empty directory.
func TestIgnored_ofADirectoryThatIsEmptyByNow(t *testing.T) {
	t.Parallel()
	for name, become := range map[string]func(dir string) error{
		"another that is empty": func(dir string) error { return os.Mkdir(dir, 0o700) },
		"none":                  func(string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "manifests")
			must(t, os.Mkdir(dir, 0o700))
			write(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "i"))
			write(t, filepath.Join(dir, "b.txt"), "")
			var mu sync.Mutex
			var told *api.Ignored
			s, k := newSource(dir, 10*time.Millisecond, func(c *Config) {
				c.Ignored = func(what *api.Ignored) {
					mu.Lock()
					defer mu.Unlock()
					told = what
				}
			})
			ignored := func() int {
				mu.Lock()
				defer mu.Unlock()
				if told == nil {
					return 0
				}
				return told.Files
			}
			run(t, s, k)
			eventually(t, 1, ignored)
			must(t, os.Rename(dir, dir+"-unmounted"))
			must(t, become(dir))
			eventually(t, 2, func() int { return len(k.healths()) })
			eventually(t, 0, ignored)
		})
	}
}
