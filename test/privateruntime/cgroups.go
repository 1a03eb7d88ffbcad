package privateruntime

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

// defaultCgroup is the parent that containerd uses for the containers of a pod that has no cgroup
// parent.
const defaultCgroup = "k8s.io"

// hierarchies returns the mount points of cgroup file systems, of either version.
func hierarchies() ([]string, error) {
	mounts, err := readMounts()
	if err != nil {
		return nil, err
	}
	var roots []string
	for _, mount := range mounts {
		if mount.fsType == "cgroup" || mount.fsType == "cgroup2" {
			roots = append(roots, mount.path)
		}
	}
	return roots, nil
}

// topCgroups returns the cgroups directly below the root of each hierarchy.
func topCgroups() ([]string, error) {
	roots, err := hierarchies()
	if err != nil {
		return nil, err
	}
	var top []string
	for _, root := range roots {
		entries, err := os.ReadDir(root)
		if err != nil {
			return nil, fmt.Errorf("list cgroups: %w", err)
		}
		for _, entry := range entries {
			if entry.IsDir() {
				top = append(top, filepath.Join(root, entry.Name()))
			}
		}
	}
	return top, nil
}

// cgroupPatience is how long the kernel may take to release a cgroup after its last process has
// exited.
const cgroupPatience = 2 * time.Second

// removeCgroups removes the cgroups of the runtimes' containers, and their parents that are empty
// and are not below a cgroup that existed before the first runtime. may reports, by the name of the
// outermost parent, whether the parents may be removed now.
func (m machine) removeCgroups(ctx context.Context, may func(top string) bool) error {
	roots, err := hierarchies()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cgroupPatience)
	defer cancel()
	var failed []error
	leaves := slices.Clone(m.Made.Cgroups)
	for _, root := range roots {
		leaves = append(leaves, filepath.Join(root, defaultCgroup, "none"))
	}
	for _, leaf := range leaves {
		failed = append(failed, removeEmpty(ctx, leaf))
		parents := parentsToRemove(leaf, roots, m.Cgroups)
		if len(parents) == 0 || !may(filepath.Base(parents[len(parents)-1])) {
			continue
		}
		for _, parent := range parents {
			if err := os.Remove(parent); err != nil && !errors.Is(err, fs.ErrNotExist) {
				break // it has other children
			}
		}
	}
	return errors.Join(failed...)
}

// removeEmpty removes a container's cgroup as soon as the kernel allows it.
func removeEmpty(ctx context.Context, dir string) error {
	return waitUntil(ctx, func() error {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove cgroup: %w", err)
		}
		return nil
	})
}

// parentsToRemove returns the directories between a container's cgroup and its hierarchy's root,
// the innermost first. It returns none if the outermost of them existed before, or if the path is
// in no hierarchy.
func parentsToRemove(leaf string, roots, before []string) []string {
	for _, root := range roots {
		inner, ok := strings.CutPrefix(leaf, root+"/")
		if !ok {
			continue
		}
		top, _, nested := strings.Cut(inner, "/")
		if !nested || slices.Contains(before, filepath.Join(root, top)) {
			return nil
		}
		var parents []string
		for dir := filepath.Dir(leaf); dir != root; dir = filepath.Dir(dir) {
			parents = append(parents, dir)
		}
		return parents
	}
	return nil
}
