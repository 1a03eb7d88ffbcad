package usage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	for name, tc := range map[string]struct {
		// put creates the content of the directory.
		put func(dir string) error
		// over is true if the content has more than most bytes.
		over bool
		// inodes is the number of files with the directory; 0 if it is not checked.
		inodes int64
	}{
		"empty":  {put: func(string) error { return nil }, inodes: 1},
		"within": {put: func(dir string) error { return fill(dir+"/a", most/2) }},
		"beyond": {put: func(dir string) error { return errors.Join(fill(dir+"/a/b", 600<<10), fill(dir+"/c", 600<<10)) }, over: true},
		"sparse": {put: func(dir string) error { return errors.Join(fill(dir+"/a", 0), os.Truncate(dir+"/a", 1<<30)) }},
		"several names": {put: func(dir string) error {
			return errors.Join(fill(dir+"/a", 600<<10), os.Link(dir+"/a", dir+"/b"), os.Link(dir+"/a", dir+"/c"))
		}},
		"a link that leads out": {put: func(dir string) error { return os.Symlink("/usr", dir+"/a") }},
		"is not there":          {put: os.Remove},
		"paths too long for the kernel": {put: func(dir string) error {
			deepest, err := nested(dir, "!"+strings.Repeat("x", 250), 40)
			return errors.Join(err, deepest.WriteFile("f", make([]byte, 2*most), 0o600))
		}, over: true},
		"directories deep in each other": {put: func(dir string) error {
			// On some file systems, such as tmpfs, only the file takes space.
			deepest, err := nested(dir, "d", maxDepth-1)
			return errors.Join(err, deepest.WriteFile("f", make([]byte, 2*most), 0o600))
		}, over: true},
		"many files": {put: func(dir string) (err error) {
			for i := 0; i < 3*entriesAtOnce && err == nil; i++ {
				err = os.WriteFile(fmt.Sprint(dir, "/", i), nil, 0o600)
			}
			return err
		}, inodes: 3*entriesAtOnce + 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "volume")
			if err := errors.Join(os.Mkdir(dir, 0o755), tc.put(dir)); err != nil {
				t.Fatal(err)
			}
			used, err := Count(t.Context(), dir, most)
			if err != nil || (used.Bytes > most) != tc.over || used.Deep {
				t.Errorf("got %+v, %v; want more than %d bytes: %v", used, err, most, tc.over)
			}
			if tc.inodes != 0 && used.Inodes != tc.inodes {
				t.Errorf("%d inodes, want %d", used.Inodes, tc.inodes)
			}
		})
	}
}

// TestCount_ofDirectoriesTooDeep checks that Count returns and does not run out of file
// descriptors.
func TestCount_ofDirectoriesTooDeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := nested(dir, "d", maxDepth+1); err != nil {
		t.Fatal(err)
	}
	if used, err := Count(t.Context(), dir, 1<<40); err != nil || !used.Deep {
		t.Errorf("got %+v, %v", used, err)
	}
}

func TestCount_endsWithItsContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := fill(dir+"/a", 1<<20); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if used, err := Count(ctx, dir, 1<<30); err == nil || used.Bytes > 1<<19 {
		t.Errorf("got %+v, %v", used, err)
	}
}

// fill writes a file of size bytes, and its directory.
func fill(path string, size int) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600))
}

// nested makes directories inside each other, all with one name. It returns the deepest one.
func nested(dir, name string, depth int) (deepest *os.Root, err error) {
	deepest, err = os.OpenRoot(dir)
	for i := 0; i < depth && err == nil; i++ {
		if err = deepest.Mkdir(name, 0o755); err == nil {
			above := deepest
			deepest, err = above.OpenRoot(name)
			err = errors.Join(err, above.Close())
		}
	}
	return deepest, err
}
