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

// A cgroup stays busy for a moment after its last process has ended.
const (
	busyRetries = 20
	busyWait    = 50 * time.Millisecond
	killAfter   = 4
)

// errBusy is a cgroup that still holds something.
var errBusy = errors.New("in use")

// Remove removes the cgroup of a pod from every class and hierarchy, with the
// cgroups in it, and with the last pod the cgroups above it. It ends nothing:
// if processes remain for a second, it fails and says which.
func (c *Cgroups) Remove(ctx context.Context, uid types.UID) error {
	return c.remove(ctx, uid, busyRetries)
}

// End is Remove for a pod whose containers the runtime has stopped, all of them:
// what still lives in its cgroup after some 200 ms is killed. A runtime that is
// killed or frozen while it starts a container leaves such processes, and knows
// nothing of them.
func (c *Cgroups) End(ctx context.Context, uid types.UID) error {
	return c.remove(ctx, uid, killAfter)
}

// remove removes the cgroup of a pod, and kills what lives in it from so many
// tries on.
func (c *Cgroups) remove(ctx context.Context, uid types.UID, patience int) error {
	if err := checkUID(uid); err != nil {
		return err
	}
	if err := c.removePod(ctx, uid, patience); err != nil {
		return fmt.Errorf("cgroup of pod %s: %w", uid, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.requested, uid)
	for _, point := range c.hierarchy.points() {
		for _, class := range classDirs {
			// The kernel refuses to remove what is not empty.
			err := c.files.rmdir(filepath.Join(point, c.root, class))
			if err != nil && !isBusy(err) && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("remove an empty cgroup: %w", err)
			}
		}
	}
	return c.shareBurstable()
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

// tryRemovePod removes nothing unless all hierarchies are free of processes; with
// kill it sees to it that they will be.
func (c *Cgroups) tryRemovePod(uid types.UID, kill bool) error {
	var dirs []string
	for _, point := range c.hierarchy.points() {
		for _, class := range classDirs {
			tree, err := subtree(filepath.Join(point, c.root, class, podPrefix+string(uid)))
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

// subtree is dir and all directories in it, the deepest first; nothing where
// dir is missing.
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

// isBusy reports whether a directory could not be removed because it holds
// processes or directories.
func isBusy(err error) bool {
	return errors.Is(err, unix.EBUSY) || errors.Is(err, unix.ENOTEMPTY)
}
