package rmtree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/internal/rmtree"
)

func TestRemove(t *testing.T) {
	t.Parallel()
	// Each case plants something in the directory; outside must survive.
	tests := map[string]func(t *testing.T, dir, outside string){
		"nothing": func(*testing.T, string, string) {},
		"an empty directory": func(t *testing.T, dir, _ string) {
			t.Helper()
			check(t, os.Mkdir(dir, 0o700))
		},
		"a file": func(t *testing.T, dir, _ string) {
			t.Helper()
			check(t, os.WriteFile(dir, nil, 0o600))
		},
		"a link in place of the directory": func(t *testing.T, dir, outside string) {
			t.Helper()
			check(t, os.Symlink(outside, dir))
		},
		"a tree": func(t *testing.T, dir, _ string) {
			t.Helper()
			for i := range 3 {
				for j := range 3 {
					sub := filepath.Join(dir, strconv.Itoa(i), strconv.Itoa(j), "leaf")
					check(t, os.MkdirAll(sub, 0o700))
					check(t, os.WriteFile(filepath.Join(sub, "file"), []byte("x"), 0o400))
				}
			}
		},
		"links to the outside": func(t *testing.T, dir, outside string) {
			t.Helper()
			check(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
			check(t, os.Symlink(outside, filepath.Join(dir, "direct")))
			check(t, os.Symlink(outside, filepath.Join(dir, "sub", "nested")))
			check(t, os.Symlink("../../outside/keep", filepath.Join(dir, "sub", "relative")))
		},
		"FIFOs and sockets": func(t *testing.T, dir, _ string) {
			t.Helper()
			check(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
			check(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
			check(t, unix.Mkfifo(filepath.Join(dir, "sub", "fifo"), 0o600))
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			check(t, err)
			defer unix.Close(fd)
			// The path leads through /proc, because the address of a socket must be short.
			at, err := os.Open(dir)
			check(t, err)
			defer at.Close()
			check(t, unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/socket", at.Fd())}))
		},
		"names that moved directories would take": func(t *testing.T, dir, outside string) {
			t.Helper()
			check(t, os.MkdirAll(filepath.Join(dir, "a", "b", "c"), 0o700))
			check(t, os.MkdirAll(filepath.Join(dir, ".removing-1", "full", "deep"), 0o700))
			check(t, os.WriteFile(filepath.Join(dir, ".removing-2"), nil, 0o600))
			check(t, os.Symlink(outside, filepath.Join(dir, ".removing-3")))
		},
		"more entries than fit in memory at once": func(t *testing.T, dir, _ string) {
			t.Helper()
			check(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
			for i := range 3000 {
				check(t, os.WriteFile(filepath.Join(dir, "sub", strconv.Itoa(i)), nil, 0o600))
			}
		},
		"a tree deeper than any path": func(t *testing.T, dir, _ string) {
			t.Helper()
			check(t, os.Mkdir(dir, 0o700))
			at, err := unix.Open(dir, unix.O_DIRECTORY, 0)
			check(t, err)
			for range 5000 {
				check(t, unix.Mkdirat(at, "deeper", 0o700))
				next, err := unix.Openat(at, "deeper", unix.O_DIRECTORY, 0)
				check(t, errors.Join(err, unix.Close(at)))
				at = next
			}
			check(t, unix.Close(at))
		},
	}
	for name, plant := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			outside := filepath.Join(parent, "outside")
			check(t, os.MkdirAll(filepath.Join(outside, "keep"), 0o700))
			plant(t, filepath.Join(parent, "dir"), outside)

			check(t, rmtree.Remove(t.Context(), parent, "dir"))

			if _, err := os.Lstat(filepath.Join(parent, "dir")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("still there: %v", err)
			}
			if _, err := os.Stat(filepath.Join(outside, "keep")); err != nil {
				t.Errorf("what a link led to was touched: %v", err)
			}
		})
	}
}

func TestRemoveRefusesWhatIsNoName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", "..", "a/b", "../a", "/", "/a", "a/"} {
		parent := filepath.Join(t.TempDir(), "x")
		check(t, os.MkdirAll(filepath.Join(parent, "a", "b"), 0o700))
		if err := rmtree.Remove(t.Context(), parent, name); err == nil {
			t.Errorf("%q was accepted", name)
		}
		if _, err := os.Stat(filepath.Join(parent, "a", "b")); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestRemoveBelowAMissingDirectory(t *testing.T) {
	t.Parallel()
	check(t, rmtree.Remove(t.Context(), filepath.Join(t.TempDir(), "missing"), "dir"))
}

func TestRemoveStopsWithItsContextAndGoesOn(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	check(t, os.MkdirAll(filepath.Join(parent, "dir", "a", "b"), 0o700))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := rmtree.Remove(ctx, parent, "dir"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	check(t, rmtree.Remove(t.Context(), parent, "dir"))
	check(t, os.Remove(parent))
}

func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	for i := range 300 {
		check(t, os.MkdirAll(filepath.Join(parent, "dir", strconv.Itoa(i), "a", "b", "c"), 0o700))
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			// Either call may find a directory that the other one has just moved.
			if err := rmtree.Remove(t.Context(), parent, "dir"); err != nil && !errors.Is(err, unix.ENOTEMPTY) {
				t.Error(err)
			}
		})
	}
	both.Wait()
	check(t, rmtree.Remove(t.Context(), parent, "dir"))
	check(t, os.Remove(parent))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
