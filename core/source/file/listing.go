package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// inode names a file or directory for as long as it exists.
type inode struct{ dev, ino uint64 }

// stamp is what changes when a file does.
type stamp struct {
	inode
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
}

// content is the stamp without what a change of names or modes changes too.
func (s stamp) content() stamp {
	s.ctime = 0
	return s
}

// changed is the later of the file's times.
func (s stamp) changed() time.Time { return time.Unix(0, max(s.mtime, s.ctime)) }

// entry is a manifest as a listing shows it.
type entry struct {
	name  string
	stamp stamp
	// symlink is true where the name is a symbolic link, hardlink where the
	// file has another name.
	symlink, hardlink bool
	// err says why the name leads nowhere.
	err error
}

// list returns the manifests below the path, and the directory they are in.
func (s *Source) list() (dir inode, entries []entry, err error) {
	s.ignored = nil
	info, err := os.Stat(s.cfg.Path)
	if err != nil {
		return inode{}, nil, fmt.Errorf("list manifests: %w", err)
	}
	s.single = info.Mode().IsRegular()
	if s.single {
		e, ok := s.stat(filepath.Base(s.cfg.Path), isSymlink(s.cfg.Path))
		if !ok {
			return inode{}, nil, fmt.Errorf("list manifests: %s: %w", s.cfg.Path, fs.ErrNotExist)
		}
		return inode{}, []entry{e}, nil
	}
	if !info.IsDir() {
		return inode{}, nil, fmt.Errorf("list manifests: %s is neither a directory nor a regular file", s.cfg.Path)
	}
	f, err := os.Open(s.cfg.Path)
	if err != nil {
		return inode{}, nil, fmt.Errorf("list manifests: %w", err)
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return inode{}, nil, fmt.Errorf("list manifests: %w", err)
	}
	names, err := s.manifests(f)
	if err != nil {
		s.ignored = nil // no more than a part was counted
		return inode{}, nil, fmt.Errorf("list manifests: %w", err)
	}
	for _, n := range names {
		if e, ok := s.stat(n.Name(), n.Type()&fs.ModeSymlink != 0); ok {
			entries = append(entries, e)
		}
	}
	return stampOf(info).inode, entries, s.within(entries)
}

// stat looks at one name; ok is false for one that is no longer there.
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
	return entry{name: name, stamp: stampOf(info), symlink: symlink, hardlink: links > 1}, true
}

// whatIs names what is no regular file.
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

func stampOf(info fs.FileInfo) stamp {
	st := info.Sys().(*syscall.Stat_t)
	return stamp{
		inode: inode{dev: uint64(st.Dev), ino: st.Ino}, //nolint:unconvert // narrower on some architectures
		size:  st.Size,
		mtime: st.Mtim.Nano(),
		ctime: st.Ctim.Nano(),
	}
}
