package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wardlet/wardlet/test/harness"
)

// makeCgroups makes a cgroup in every hierarchy.
func makeCgroups(name string) error {
	roots, err := harness.CgroupRoots()
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
