// Package rmtree removes directories with untrusted content. It keeps no state
// and owns no goroutine.
package rmtree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// batch limits the number of names in memory: a directory may have millions of entries.
const batch = 1024

// IsName reports whether s is a single path component that stays in its directory, and so can be
// the name of a directory.
func IsName(s string) bool {
	return s != "." && filepath.IsLocal(s) && filepath.Base(s) == s
}

// Remove removes the entry name of the directory parent with all its content. A missing entry is no
// error. Links are removed, never followed; FIFOs, sockets and devices are never opened. Remove
// does not enter mount points in the tree: it returns EXDEV or EBUSY.
//
// Deep trees need no more stack or file descriptors than flat ones: full directories are moved up
// to name before they are emptied. So after an error, or the end of ctx, the rest of the tree is
// flattened. Two concurrent calls for the same name do not disturb each other.
func Remove(ctx context.Context, parent, name string) error {
	if !IsName(name) {
		return fmt.Errorf("remove %q below %s: not the name of one entry", name, parent)
	}
	dir, err := os.Open(parent)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	full, err := unlink(dir, name)
	if err != nil || !full {
		return err
	}
	top, err := openDir(dir, name)
	if err != nil {
		return ignoreMissing(err)
	}
	defer top.Close()
	r := remover{top: top}
	if err := each(ctx, top, func(entry string) error { return r.remove(ctx, entry) }); err != nil {
		return err
	}
	full, err = unlink(dir, name)
	if full {
		return &os.PathError{Op: "unlink", Path: filepath.Join(parent, name), Err: unix.ENOTEMPTY}
	}
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// remover empties one directory.
type remover struct {
	top *os.File
	// moved is the number of directories that were moved up.
	moved int
}

// remove removes an entry of top; the directories in it become entries of top.
func (r *remover) remove(ctx context.Context, name string) error {
	full, err := unlink(r.top, name)
	if err != nil || !full {
		return err
	}
	dir, err := openDir(r.top, name)
	if err != nil {
		return ignoreMissing(err)
	}
	defer dir.Close()
	err = each(ctx, dir, func(entry string) error {
		full, err := unlink(dir, entry)
		if err != nil || !full {
			return err
		}
		return r.moveUp(dir, entry)
	})
	if err != nil {
		return err
	}
	_, err = unlink(r.top, name)
	return err
}

// moveUp makes the directory name of dir an entry of top. The kernel refuses to move a mount point.
func (r *remover) moveUp(dir *os.File, name string) error {
	for {
		r.moved++
		err := unix.Renameat(int(dir.Fd()), name, int(r.top.Fd()), ".removing-"+strconv.Itoa(r.moved))
		switch {
		case err == nil, errors.Is(err, unix.ENOENT):
			return nil
		case errors.Is(err, unix.EEXIST), errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.ENOTDIR):
			// The name is in use; try the next one.
		default:
			return &os.PathError{Op: "rename", Path: filepath.Join(dir.Name(), name), Err: err}
		}
	}
}

// each calls f with the names in dir until none is left. f must remove its entry.
func each(ctx context.Context, dir *os.File, f func(name string) error) error {
	for {
		if _, err := dir.Seek(0, io.SeekStart); err != nil {
			return err
		}
		names, err := dir.Readdirnames(batch)
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("%s is not empty yet: %w", dir.Name(), err)
			}
			if err := f(name); err != nil {
				return err
			}
		}
	}
}

// unlink removes an entry of dir. full is true if it is a directory with entries, which is not
// removed.
func unlink(dir *os.File, name string) (full bool, err error) {
	err = unix.Unlinkat(int(dir.Fd()), name, 0)
	if errors.Is(err, unix.EISDIR) {
		err = unix.Unlinkat(int(dir.Fd()), name, unix.AT_REMOVEDIR)
	}
	switch {
	case err == nil, errors.Is(err, unix.ENOENT):
		return false, nil
	case errors.Is(err, unix.ENOTEMPTY), errors.Is(err, unix.EEXIST):
		return true, nil
	}
	return false, &os.PathError{Op: "unlink", Path: filepath.Join(dir.Name(), name), Err: err}
}

// openDir opens the directory name of dir. It never follows a link or enters a mount.
func openDir(dir *os.File, name string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	path := filepath.Join(dir.Name(), name)
	fd, err := unix.Openat2(int(dir.Fd()), name, &unix.OpenHow{
		Flags:   flags,
		Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_SYMLINKS,
	})
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		// The kernel is older than 5.6, or a sandbox lacks the call.
		fd, err = openSameDevice(int(dir.Fd()), name, flags)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openSameDevice is a substitute for openat2: it detects mounts of other file systems, but not bind
// mounts of the same one.
func openSameDevice(dir int, name string, flags int) (int, error) {
	fd, err := unix.Openat(dir, name, flags, 0)
	if err != nil {
		return -1, err
	}
	var parent, child unix.Stat_t
	if err = errors.Join(unix.Fstat(dir, &parent), unix.Fstat(fd, &child)); err == nil && parent.Dev != child.Dev {
		err = unix.EXDEV
	}
	if err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}
