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

// privateDir is a directory of one process. While the process lives it holds a
// lock on a file in the directory. A directory whose lock no process holds was
// left by one that died.
type privateDir struct {
	path string
	lock *os.File
}

// lockName is the locked file.
const lockName = "lock"

// claim makes a directory below parent, its name beginning with prefix.
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
	// Under its name it is seen only with the lock held.
	return d, os.Rename(d.lock.Name(), filepath.Join(path, lockName))
}

// release removes the directory with what is in it, once.
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

// sweep removes what dead processes of this user have left below parent.
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

// ownDir makes a directory only its owner can enter. Where something is there
// that machine code may not be loaded from, unsafe says why; err is why there
// is no directory.
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

// ownDirs is ownDir for several, where it makes no difference what is wrong.
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
