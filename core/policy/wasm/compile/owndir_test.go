package compile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTheCacheIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	mkdir := func(path string) error { return os.MkdirAll(path, 0o700) }
	for name, test := range map[string]struct {
		make func(path string) error
		want string
	}{
		"missing, with its parent": {func(string) error { return nil }, ""},
		"of its owner":             {mkdir, ""},
		"readable by others":       {func(path string) error { return errors.Join(mkdir(path), os.Chmod(path, 0o755)) }, "its mode is 0755: others could"},
		"writable by the group":    {func(path string) error { return errors.Join(mkdir(path), os.Chmod(path, 0o720)) }, "its mode is 0720: others could"},
		"a link": {func(path string) error {
			return errors.Join(mkdir(filepath.Dir(path)), os.Symlink(t.TempDir(), path))
		}, "not a directory, and links are not followed"},
		"a file": {func(path string) error {
			return errors.Join(mkdir(filepath.Dir(path)), os.WriteFile(path, nil, 0o600))
		}, "not a directory"},
		"a pipe": {func(path string) error {
			return errors.Join(mkdir(filepath.Dir(path)), unix.Mkfifo(path, 0o600))
		}, "not a directory"},
	} {
		path := filepath.Join(t.TempDir(), "parent", "cache")
		check(t, test.make(path))
		f, err := tryLibrary(t, path)
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v\nwant %s", name, err, test.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		acquire(t, f, small(1)).Release()
		check(t, filepath.WalkDir(path, func(path string, d os.DirEntry, err error) error {
			if info, fault := d.Info(); fault != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %s: %v %v", name, path, info, fault)
			}
			return err
		}))
	}
}

func TestWhatDeadAgentsLeftIsRemovedAndNothingElse(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	living, err := claim(parent, "a-")
	check(t, err)
	dead, err := claim(parent, "a-")
	check(t, err)
	check(t, dead.lock.Close())
	other, err := claim(parent, "b-")
	check(t, err)
	check(t, other.lock.Close())
	check(t, os.MkdirAll(parent+"/a-new", 0o700)) // as if another process were creating the directory
	check(t, os.WriteFile(parent+"/a-file", nil, 0o600))
	check(t, os.Symlink(other.path, parent+"/a-link"))
	check(t, os.MkdirAll(parent+"/a-open", 0o755))
	check(t, os.WriteFile(parent+"/a-open/"+lockName, nil, 0o600))
	check(t, os.Chmod(parent+"/a-open", 0o755))
	check(t, sweep(parent, "a-"))
	if _, err := os.Lstat(dead.path); !os.IsNotExist(err) {
		t.Errorf("the dead one: %v", err)
	}
	for _, path := range []string{living.path, other.path, parent + "/a-new", parent + "/a-file", parent + "/a-link", parent + "/a-open"} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	check(t, living.release())
	if _, err := os.Lstat(living.path); !os.IsNotExist(err) {
		t.Errorf("released: %v", err)
	}
}
