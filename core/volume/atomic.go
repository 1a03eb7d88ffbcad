package volume

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/internal/crashpoint"
)

// content is a file of a volume. A user or group below 0 means root.
type content struct {
	data        []byte
	mode        os.FileMode
	user, group int
}

// Names in a volume whose files change together, in a kubelet's layout: dataLink points to the
// directory with the current files. Users see links through it.
const (
	dataLink    = "..data"
	newDataLink = "..data_tmp"
	dataPrefix  = ".."
)

// writeFiles makes a directory contain files and nothing else. A reader sees either all old files
// or all new ones. If nothing has changed, it writes nothing.
func writeFiles(dir *os.Root, files map[string]content, now time.Time) error {
	files, err := cleanPaths(files)
	if err != nil {
		return err
	}
	old, err := dir.Readlink(dataLink)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if old != "" && holdsFiles(dir, old, files) {
		return linkFiles(dir, old, files)
	}
	fresh := dataPrefix + now.UTC().Format("2006_01_02_15_04_05.000000000")
	if err := writeNew(dir, fresh, files); err != nil {
		return errors.Join(err, dir.RemoveAll(fresh))
	}
	crashpoint.Reached("files written")
	if err := dir.RemoveAll(newDataLink); err != nil {
		return err
	}
	if err := dir.Symlink(fresh, newDataLink); err != nil {
		return err
	}
	crashpoint.Reached("files linked")
	if err := dir.Rename(newDataLink, dataLink); err != nil {
		return err
	}
	crashpoint.Reached("files in force")
	return linkFiles(dir, fresh, files)
}

// cleanPaths returns the files by their cleaned paths. A path that leaves the directory is an
// error.
func cleanPaths(files map[string]content) (map[string]content, error) {
	clean := make(map[string]content, len(files))
	for file, c := range files {
		if !filepath.IsLocal(file) {
			return nil, fmt.Errorf("invalid path %q: must be relative and stay in the volume", file)
		}
		clean[filepath.Clean(file)] = c
	}
	return clean, nil
}

func writeNew(dir *os.Root, name string, files map[string]content) error {
	if err := dir.Mkdir(name, 0o755); err != nil {
		return err
	}
	if err := dir.Chmod(name, 0o755); err != nil {
		return err
	}
	for file, c := range files {
		at := filepath.Join(name, file)
		if err := makeDirs(dir, filepath.Dir(at)); err != nil {
			return err
		}
		if err := dir.WriteFile(at, c.data, 0o600); err != nil {
			return err
		}
		if c.user >= 0 || c.group >= 0 {
			if err := dir.Chown(at, c.user, c.group); err != nil {
				return err
			}
		}
		if err := dir.Chmod(at, c.mode); err != nil {
			return err
		}
	}
	return nil
}

// makeDirs makes a directory below another one, with its parents, readable for all users whatever
// the umask is.
func makeDirs(dir *os.Root, name string) error {
	for at := ""; at != name; {
		next, _, _ := strings.Cut(strings.TrimPrefix(name[len(at):], "/"), "/")
		at = filepath.Join(at, next)
		err := dir.Mkdir(at, 0o755)
		if err == nil {
			err = dir.Chmod(at, 0o755)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// holdsFiles reports whether a directory contains exactly these files, with their modes.
func holdsFiles(dir *os.Root, name string, files map[string]content) bool {
	found := 0
	err := fs.WalkDir(dir.FS(), name, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(name, at)
		if err != nil {
			return err
		}
		c, wanted := files[rel]
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := dir.ReadFile(at)
		if err != nil {
			return err
		}
		if !wanted || info.Mode().Perm() != c.mode.Perm() || !bytes.Equal(data, c.data) {
			return errDiffers
		}
		found++
		return nil
	})
	return err == nil && found == len(files)
}

var errDiffers = errors.New("differs")

// linkFiles makes the links that users see: one for the first element of each path. It removes
// links to files that are gone, and all directories of files but the current one.
func linkFiles(dir *os.Root, current string, files map[string]content) error {
	wanted := map[string]bool{}
	for file := range files {
		first, _, _ := strings.Cut(file, "/")
		wanted[first] = true
	}
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == dataLink, name == current:
		case strings.HasPrefix(name, dataPrefix):
			if err := dir.RemoveAll(name); err != nil {
				return err
			}
		case wanted[name] && e.Type()&fs.ModeSymlink != 0:
			delete(wanted, name)
		default: // also directories that were made for a subPath
			if err := dir.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	for name := range wanted {
		if err := dir.Symlink(path.Join(dataLink, name), name); err != nil {
			return err
		}
	}
	return nil
}
