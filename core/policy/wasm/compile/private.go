package compile

import (
	"errors"
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
