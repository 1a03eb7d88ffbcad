package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const (
	prefix   = "wardlet-cluster-"
	lockName = "lock"
	sweeper  = "wardlet-cluster.lock" // Held while directories are made and removed, because a new directory has no lock for a moment.
)

// newDir makes a directory, locked for as long as this process lives, and removes the directories
// that no process has locked.
func newDir() (dir string, lock *os.File, err error) {
	one, err := os.OpenFile(filepath.Join(os.TempDir(), sweeper), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", nil, err
	}
	defer one.Close()
	if err := syscall.Flock(int(one.Fd()), syscall.LOCK_EX); err != nil {
		return "", nil, fmt.Errorf("lock %s: %w", one.Name(), err)
	}
	if err := sweep(os.TempDir()); err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, err
	}
	lock, err = os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	return dir, lock, err
}

// sweep removes the directories that killed processes have left in temp.
func sweep(temp string) error {
	found, err := filepath.Glob(filepath.Join(temp, prefix+"*", lockName))
	if err != nil {
		return err
	}
	for _, path := range found {
		lock, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue // The file is gone, or belongs to another user.
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			err = os.RemoveAll(filepath.Dir(path))
		}
		lock.Close()
		if err != nil {
			return fmt.Errorf("remove what a killed test left: %w", err)
		}
	}
	return nil
}
