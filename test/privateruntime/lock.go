package privateruntime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// lock is an exclusive lock on a file or directory; the kernel releases it when the process exits.
type lock struct{ file *os.File }

// release releases the lock. The file may have been removed meanwhile.
func (l lock) release() {
	// Closing the only descriptor releases the lock; nothing can be done about an error.
	_ = l.file.Close()
}

// lockPoll is how often a held lock is tried again, because flock has no deadline.
const lockPoll = 20 * time.Millisecond

// lockPath waits for the lock on an existing file or directory. It returns fs.ErrNotExist once the
// path is gone, because the previous holder of the lock may have removed what the lock covered.
func lockPath(ctx context.Context, path string, flags int) (lock, error) {
	for {
		file, err := os.OpenFile(path, flags, 0o600)
		if err != nil {
			return lock{}, fmt.Errorf("lock: %w", err)
		}
		err = waitLock(ctx, file)
		if err == nil && samePath(file, path) {
			return lock{file}, nil
		}
		_ = file.Close()
		if err != nil {
			return lock{}, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}

func waitLock(ctx context.Context, file *os.File) error {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("another process holds it: %w", ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}

// samePath reports whether the path still names the open file.
func samePath(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

// lockMachine takes the lock that covers names, subnets and everything that all runtimes of the
// machine share.
func lockMachine(ctx context.Context) (lock, error) {
	for {
		if err := os.MkdirAll(runDir, 0o755); err != nil {
			return lock{}, fmt.Errorf("make %s: %w", runDir, err)
		}
		held, err := lockPath(ctx, filepath.Join(runDir, lockName), os.O_RDWR|os.O_CREATE)
		if errors.Is(err, os.ErrNotExist) && ctx.Err() == nil {
			continue // the last runtime removed the directory between the two calls
		}
		return held, err
	}
}

// lockName is the name of the lock file in runDir.
const lockName = ".lock"

// lockInstance takes the lock that covers one runtime. It returns fs.ErrNotExist if there is no
// such runtime (any more).
func lockInstance(ctx context.Context, name string) (lock, error) {
	return lockPath(ctx, stateDir(name), os.O_RDONLY|unix.O_DIRECTORY)
}
