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
)

// errBusy is a cgroup that still holds something.
var errBusy = errors.New("in use")

// Remove removes the cgroup of a pod from every class and hierarchy, with the
// cgroups in it, and with the last pod the cgroups above it. It ends nothing:
// if processes remain for a second, it fails and says which.
func (c *Cgroups) Remove(ctx context.Context, uid types.UID) error {
	if err := checkUID(uid); err != nil {
		return err
	}
	if err := c.removePod(ctx, uid); err != nil {
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

func (c *Cgroups) removePod(ctx context.Context, uid types.UID) error {
	var err error
	for range busyRetries {
		if err = c.tryRemovePod(uid); !errors.Is(err, errBusy) {
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

// tryRemovePod removes nothing unless all hierarchies are free of processes.
func (c *Cgroups) tryRemovePod(uid types.UID) error {
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
		procs, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		switch pids := strings.Fields(string(procs)); {
		case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ENODEV), errors.Is(err, unix.EOPNOTSUPP):
			// Gone meanwhile, or a group of threads; rmdir will tell.
		case err != nil:
			return err
		case len(pids) > 0:
			return fmt.Errorf("%w: processes %s live in %s; end them first", errBusy, strings.Join(pids, ", "), dir)
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
