package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wardlet/wardlet/test/harness"
)

// makeCgroups creates a cgroup in every hierarchy.
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

// makeCgroup creates one cgroup. A cgroup of cpuset accepts no process before it has processors and
// memory.
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

// settings are the kernel's settings that a kubelet changes for the whole machine.
var settings = []string{
	"vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
	"kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
}

// keepSettings saves the settings; undo restores those that have changed.
func keepSettings() (undo func() error, err error) {
	return keepFiles("/proc/sys", settings)
}

func keepFiles(dir string, names []string) (undo func() error, err error) {
	before := map[string][]byte{}
	for _, name := range names {
		if before[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return func() error {
		var failed []error
		for name, was := range before {
			path := filepath.Join(dir, name)
			now, err := os.ReadFile(path)
			if err == nil && !bytes.Equal(now, was) {
				err = os.WriteFile(path, was, 0)
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("put back what a kubelet changed: %w", err))
			}
		}
		return errors.Join(failed...)
	}, nil
}
