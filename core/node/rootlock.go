package node

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// LocksDir is the directory in which agents lock their cgroup roots. All agents of a node use it,
// regardless of their configurations.
const LocksDir = "/run/wardlet-cgroups"

// ErrRootTaken means that another agent uses the cgroup root.
var ErrRootTaken = errors.New("another agent uses it")

// LockRoot locks a cgroup root against other agents until the lock is closed or the process exits.
// The lock is a file below dir, because the cgroup itself exists only while there are pods.
func LockRoot(dir, root string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock cgroup root %s: %w", root, err)
	}
	name := filepath.Join(dir, url.PathEscape(root))
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock cgroup root %s: %w", root, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := os.ReadFile(name)
		err = fmt.Errorf("%w, process %s: stop that one, or name another cgroup_root", ErrRootTaken, strings.TrimSpace(string(holder)))
	}
	if err == nil {
		// The process ID is for people and for the error above; the lock itself is in the kernel.
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteAt(fmt.Appendln(nil, os.Getpid()), 0)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cgroup root %s: %w", root, err), f.Close())
	}
	return f, nil
}
