package compile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// privateDir is a directory of one process. The process holds a lock on a file in
// the directory as long as it lives. If no process holds the lock, the owner of the
// directory has died.
type privateDir struct {
	path string
	lock *os.File
}

// lockName is the name of the locked file.
const lockName = "lock"

// claim makes a private directory in parent. Its name begins with prefix.
func claim(parent, prefix string) (_ *privateDir, err error) {
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	d := &privateDir{path: path}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.release())
		}
	}()
	if d.lock, err = os.CreateTemp(path, "new"); err != nil {
		return nil, err
	}
	if err = unix.Flock(int(d.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, os.NewSyscallError("flock", err)
	}
	// Rename the file only now, so that under lockName it is always locked.
	return d, os.Rename(d.lock.Name(), filepath.Join(path, lockName))
}

// release removes the directory and its content. A second call does nothing.
func (d *privateDir) release() error {
	if d.path == "" {
		return nil
	}
	err := os.RemoveAll(d.path)
	if errors.Is(err, syscall.ENOTDIR) { // another process has removed it
		err = nil
	}
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	d.path = ""
	return err
}

// sweep removes the private directories in parent that dead processes of this user
// left.
func sweep(parent, prefix string) error {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(parent, entry.Name())
		if !strings.HasPrefix(entry.Name(), prefix) || !abandoned(path) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	return nil
}

func abandoned(path string) bool {
	if unsafe, err := owned(path); unsafe != nil || err != nil {
		return false
	}
	f, err := openRegular(filepath.Join(path, lockName))
	if err != nil {
		return false
	}
	defer f.Close()
	return !errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), syscall.EWOULDBLOCK)
}

// ownDir makes a directory that only its owner can enter. unsafe is the reason if
// the path exists but machine code must not be loaded from it. err is the reason if
// there is no directory.
func ownDir(path string) (unsafe, err error) {
	if unsafe, err = owned(path); !errors.Is(err, fs.ErrNotExist) {
		return unsafe, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return owned(path)
}

func owned(path string) (unsafe, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return errors.New("not a directory, and links are not followed: remove it"), nil
	case !ok || int(stat.Uid) != os.Geteuid():
		return fmt.Errorf("it belongs to user %d, the agent runs as %d: remove it, or change the owner", stat.Uid, os.Geteuid()), nil
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("its mode is %#o: others could put machine code into it; remove it, its content may not be trusted", info.Mode().Perm()), nil
	}
	return nil, nil
}

// ownDirs calls ownDir for several directories, and returns either of its errors as
// err.
func ownDirs(paths ...string) error {
	for _, path := range paths {
		unsafe, err := ownDir(path)
		if err == nil && unsafe != nil {
			err = &fs.PathError{Op: "use", Path: path, Err: unsafe}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openRegular opens a regular file that belongs to this process's user. It follows
// no link and never blocks.
func openRegular(path string) (*os.File, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() { // opening some devices has side effects
		return nil, fmt.Errorf("%s is not a regular file, its mode is %v", path, before.Mode())
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !info.Mode().IsRegular() || !ok || int(stat.Uid) != os.Geteuid() {
			err = fmt.Errorf("%s is not a regular file of user %d", path, os.Geteuid())
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
