package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/wardlet/wardlet/core/internal/fswatch"
)

// entry is a manifest in a listing.
type entry struct {
	name  string
	stamp fswatch.Stamp
	// symlink: the name is a symbolic link. hardlink: the file has another name.
	symlink, hardlink bool
	// err is the reason why the name has no readable file.
	err error
}

// list returns the manifests at the path, and the directory that contains them.
func (s *Source) list() (dir fswatch.Inode, entries []entry, err error) {
	s.ignored = nil
	info, err := os.Stat(s.cfg.Path)
	if err != nil {
		return fswatch.Inode{}, nil, fmt.Errorf("list manifests: %w", err)
	}
	s.single = info.Mode().IsRegular()
	if s.single && s.cfg.OwnerOnly {
		return fswatch.Inode{}, nil, fmt.Errorf("list manifests: %s is a file; name the directory it is in", s.cfg.Path)
	}
	if s.single {
		e, ok := s.stat(filepath.Base(s.cfg.Path), isSymlink(s.cfg.Path))
		if !ok {
			return fswatch.Inode{}, nil, fmt.Errorf("list manifests: %s: %w", s.cfg.Path, fs.ErrNotExist)
		}
		return fswatch.Inode{}, []entry{e}, nil
	}
	if !info.IsDir() {
		return fswatch.Inode{}, nil, fmt.Errorf("list manifests: %s is neither a directory nor a regular file", s.cfg.Path)
	}
	f, err := os.Open(s.cfg.Path)
	if err != nil {
		return fswatch.Inode{}, nil, fmt.Errorf("list manifests: %w", err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return fswatch.Inode{}, nil, fmt.Errorf("list manifests: %w", err)
	}
	if err := s.ownerOnly(info); err != nil {
		return fswatch.Inode{}, nil, fmt.Errorf("list manifests: %w", err)
	}
	names, err := s.manifests(f)
	if err != nil {
		s.ignored = nil // only a part was counted
		return fswatch.Inode{}, nil, fmt.Errorf("list manifests: %w", err)
	}
	for _, n := range names {
		if e, ok := s.stat(n.Name(), n.Type()&fs.ModeSymlink != 0); ok {
			entries = append(entries, e)
		}
	}
	return fswatch.StampOf(info).Inode, entries, s.within(entries)
}

// ownerOnly returns an error for a directory of secrets that others may access.
func (s *Source) ownerOnly(info fs.FileInfo) error {
	if !s.cfg.OwnerOnly {
		return nil
	}
	owner := int(info.Sys().(*syscall.Stat_t).Uid)
	switch {
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s has mode %04o: others than its owner may read it; run chmod 700 on it", s.cfg.Path, info.Mode().Perm())
	case owner != 0 && owner != os.Geteuid():
		return fmt.Errorf("%s belongs to user %d; run chown root on it", s.cfg.Path, owner)
	}
	return nil
}

// stat returns the entry of one name; ok is false if the name no longer exists.
func (s *Source) stat(name string, symlink bool) (e entry, ok bool) {
	info, err := os.Stat(s.pathOf(name))
	switch {
	case err == nil && !info.Mode().IsRegular():
		return entry{name: name, symlink: symlink, err: fmt.Errorf("it is %s; only regular files are read", whatIs(info.Mode()))}, true
	case errors.Is(err, fs.ErrNotExist) && !symlink:
		return entry{}, false
	case err != nil:
		return entry{name: name, symlink: symlink, err: err}, true
	}
	links := uint64(info.Sys().(*syscall.Stat_t).Nlink) //nolint:unconvert // narrower on some architectures
	return entry{name: name, stamp: fswatch.StampOf(info), symlink: symlink, hardlink: links > 1}, true
}

// whatIs describes a file that is not a regular file.
func whatIs(mode fs.FileMode) string {
	switch mode.Type() {
	case fs.ModeDir:
		return "a directory"
	case fs.ModeNamedPipe:
		return "a named pipe"
	case fs.ModeSocket:
		return "a socket"
	}
	return "a device"
}

func isSymlink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
