package main

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
)

// cgroupPatience is how long the kernel may take to let go of a cgroup whose
// last process ended.
const cgroupPatience = 5 * time.Second

// hierarchies are the mount points of cgroups, of either version.
func hierarchies() ([]string, error) {
	table, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil, err
	}
	return cgroupMounts(string(table)), nil
}

func cgroupMounts(table string) (points []string) {
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 2 && (fields[2] == "cgroup" || fields[2] == "cgroup2") {
			points = append(points, fields[1])
		}
	}
	return points
}

// makeCgroups makes a cgroup in every hierarchy.
func makeCgroups(name string) error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	for _, root := range roots {
		if err := makeCgroup(root, name); err != nil {
			return err
		}
	}
	return nil
}

// makeCgroup makes one. Those of cpuset take no process before they have
// processors and memory.
func makeCgroup(root, name string) error {
	if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
		return err
	}
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(root, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, name, file), value, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// removeCgroups removes a tree of cgroups from every hierarchy.
func removeCgroups(ctx context.Context, name string) error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cgroupPatience)
	defer cancel()
	var failed []error
	for _, root := range roots {
		failed = append(failed, removeTree(ctx, filepath.Join(root, name)))
	}
	return errors.Join(failed...)
}

// removeTree removes a tree of cgroups, and tries again while the kernel holds
// one.
func removeTree(ctx context.Context, root string) error {
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

// removeDirs removes directories, the innermost first. A cgroup's files go with
// it and cannot be removed.
func removeDirs(root string) error {
	dirs, err := dirsBelow(root)
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

// dirsBelow are a directory and all below it, outer ones before inner ones.
func dirsBelow(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	return dirs, err
}
