package harness

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

// cgroupPatience is how long the kernel may take to release a cgroup whose last process exited.
const cgroupPatience = 5 * time.Second

// CgroupRoots returns the mount points of the cgroup hierarchies, of either version.
func CgroupRoots() ([]string, error) {
	table, err := mountTable()
	return cgroupMounts(table), err
}

// CgroupsNamed returns the cgroups of that name at the top of any hierarchy with all cgroups below
// them, outer ones first.
func CgroupsNamed(name string) ([]string, error) {
	roots, err := CgroupRoots()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, root := range roots {
		dirs, err := directories(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		found = append(found, dirs...)
	}
	return found, nil
}

// RemoveCgroups removes the cgroup of that name and all cgroups below it from every hierarchy.
func RemoveCgroups(ctx context.Context, name string) error {
	roots, err := CgroupRoots()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cgroupPatience)
	defer cancel()
	var failed []error
	for _, root := range roots {
		failed = append(failed, removeCgroup(ctx, filepath.Join(root, name)))
	}
	return errors.Join(failed...)
}

// removeCgroup removes a tree of cgroups, the innermost first, and tries again while the kernel
// still holds one.
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

// removeDirs removes a tree of directories. It leaves files out: those of a cgroup cannot be
// removed, and disappear with the cgroup.
func removeDirs(root string) error {
	dirs, err := directories(root)
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

// directories returns a directory and all directories below it, outer ones first, or none if it
// does not exist.
func directories(root string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			found = append(found, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return found, err
}
