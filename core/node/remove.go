package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"
)

// A cgroup stays busy for a moment after its last process has exited.
const (
	busyRetries = 20
	busyWait    = 50 * time.Millisecond
	killAfter   = 4
)

// errBusy means that a cgroup still has processes or directories.
var errBusy = errors.New("in use")

// Remove removes the cgroup of a pod from every class and hierarchy, with its children, and with
// the last pod also the parents. It kills no process: if processes remain for a second, it returns
// an error that names them.
func (c *Cgroups) Remove(ctx context.Context, uid types.UID) error {
	return c.remove(ctx, uid, busyRetries)
}

// End is Remove for a pod all of whose containers the runtime has stopped. It kills the processes
// that are still in the cgroup after some 200 ms. A runtime that is killed or frozen while it
// starts a container leaves such processes, and does not know them.
func (c *Cgroups) End(ctx context.Context, uid types.UID) error {
	return c.remove(ctx, uid, killAfter)
}

// remove removes the cgroup of a pod. After patience attempts, it kills the processes in it.
func (c *Cgroups) remove(ctx context.Context, uid types.UID, patience int) error {
	if err := c.naming().checkUID(uid); err != nil {
		return err
	}
	c.mu.Lock()
	delete(c.ensured, uid) // first, so that Refresh does not create it again
	c.mu.Unlock()
	if err := c.removePod(ctx, uid, patience); err != nil {
		return fmt.Errorf("cgroup of pod %s: %w", uid, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// The pod's cgroup is gone, so shares that cannot be set are no error here: Refresh sets them, or
	// reports why not.
	defer func() { _ = c.shareBurstable() }()
	if len(c.ensured) > 0 || c.naming().driver == DriverSystemd {
		return nil // the slices of systemd stay, as with a kubelet
	}
	for _, point := range c.hierarchy().points() {
		for _, class := range classes {
			// The kernel refuses to remove a directory that is not empty.
			err := c.files.rmdir(filepath.Join(point, c.naming().class(class)))
			if err != nil && !isBusy(err) && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("remove an empty cgroup: %w", err)
			}
		}
	}
	return nil
}

func (c *Cgroups) removePod(ctx context.Context, uid types.UID, patience int) error {
	var err error
	for try := range busyRetries {
		if err = c.tryRemovePod(uid, try >= patience); !errors.Is(err, errBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(busyWait):
		}
	}
	return err
}

// tryRemovePod removes nothing unless no hierarchy has processes of the pod. With kill, it kills
// them.
func (c *Cgroups) tryRemovePod(uid types.UID, kill bool) error {
	var dirs []string
	for _, point := range c.hierarchy().points() {
		for _, class := range classes {
			tree, err := subtree(filepath.Join(point, c.naming().pod(class, uid)))
			if err != nil {
				return err
			}
			dirs = append(dirs, tree...)
		}
	}
	for _, dir := range dirs {
		pids, err := processes(dir)
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			continue
		}
		busy := fmt.Errorf("%w: processes %s live in %s; end them first", errBusy, strings.Join(pids, ", "), dir)
		if kill {
			return errors.Join(busy, c.kill(dir, pids))
		}
		return busy
	}
	for _, class := range classes {
		if cgroup := c.naming().pod(class, uid); slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasSuffix(dir, cgroup) }) {
			if err := c.hierarchy().stop(cgroup); err != nil {
				return err
			}
		}
	}
	for _, dir := range dirs {
		err := c.files.rmdir(dir)
		switch {
		case err == nil, errors.Is(err, os.ErrNotExist):
		case isBusy(err):
			return fmt.Errorf("%w: %w", errBusy, err)
		default:
			return err
		}
	}
	return nil
}

// subtree returns dir and all directories in it, the deepest first. It returns none if dir is
// missing.
func subtree(dir string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ENODEV):
			return nil
		case err != nil:
			return err
		case entry.IsDir():
			dirs = append(dirs, path)
		}
		return nil
	})
	slices.Reverse(dirs)
	return dirs, err
}

// isBusy reports whether a directory could not be removed because it contains processes or
// directories.
func isBusy(err error) bool {
	return errors.Is(err, unix.EBUSY) || errors.Is(err, unix.ENOTEMPTY)
}
