package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// cgroupPatience is how long the kernel may take to let go of a cgroup whose last process ended.
const cgroupPatience = 3 * time.Second

// removeCgroups removes the agent's cgroup root with what is below it, from every hierarchy.
func (n *Node) removeCgroups(ctx context.Context) error {
	table, err := os.ReadFile(mountTable)
	if err != nil {
		return fmt.Errorf("read the mounts: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, cgroupPatience)
	defer cancel()
	var failed []error
	for _, hierarchy := range cgroupMounts(string(table)) {
		failed = append(failed, removeCgroup(ctx, filepath.Join(hierarchy, n.cgroup())))
	}
	return errors.Join(failed...)
}

// removeCgroup removes a tree of cgroups, the innermost first, and tries again while the kernel holds one.
func removeCgroup(ctx context.Context, root string) error {
	for {
		err := removeDirs(root)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("remove cgroup: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// removeDirs removes a tree of directories. The files of a cgroup go with it and cannot be removed.
func removeDirs(root string) error {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
