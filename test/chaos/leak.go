package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"

	"github.com/wardlet/wardlet/test/harness"
)

// leaks are what is left when no pod is asked for any more, in words, but for what containerd keeps.
func (n *node) leaks(ctx context.Context) (left []string, kept []unit, err error) {
	v, err := look(ctx, n.Runtime.CRI, patience)
	if err != nil {
		return nil, nil, err
	}
	keeps, err := n.keptContainers(&v)
	if err != nil {
		return nil, nil, err
	}
	for _, units := range [][]unit{v.sandboxes, v.containers} {
		for i := range units {
			if keeps[units[i].id] {
				kept = append(kept, units[i])
			} else {
				left = append(left, units[i].String())
			}
		}
	}
	processes, err := containersIn(n.Cgroup())
	for id, pids := range processes {
		left = append(left, fmt.Sprintf("processes %v of container %.12s", pids, id))
	}
	paths, pathErr := n.Left()
	left = append(left, paths...)
	mounts, mountErr := harness.MountsBelow(n.Dir)
	left = append(left, prefixed("mount", mounts)...)
	return left, kept, errors.Join(err, pathErr, mountErr)
}

func prefixed(what string, names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, what+" "+name)
	}
	return all
}

// forgotten returns what containerd keeps of pods although it says that it has none. It forgets some when it is killed or
// a call to it is. Nothing else could release that, so it is reported, but breaks no rule.
func (n *node) forgotten() ([]string, error) {
	var left []string
	shims, err := harness.ShimsOf(n.Runtime.Socket())
	for sandbox, pid := range shims {
		left = append(left, fmt.Sprintf("shim %d of sandbox %.12s", pid, sandbox))
	}
	run := filepath.Dir(n.Runtime.Socket())
	for _, dir := range []string{filepath.Join(run, "state"), filepath.Join(run, "runc")} {
		mounts, mountErr := harness.MountsBelow(dir)
		left, err = append(left, prefixed("mount", mounts)...), errors.Join(err, mountErr)
	}
	for _, pattern := range []string{filepath.Join(run, "runc", "k8s.io", "*"), filepath.Join(n.tasks(), "*")} {
		files, globErr := filepath.Glob(pattern)
		left, err = append(left, prefixed("file", files)...), errors.Join(err, globErr)
	}
	given, addressErr := addressesIn(filepath.Join(run, "addresses"))
	return append(left, prefixed("address", given)...), errors.Join(err, addressErr)
}

// addressesIn are those that the plugin that assigns addresses to pods has a file of.
func addressesIn(root string) ([]string, error) {
	var given []string
	err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			if _, err := netip.ParseAddr(entry.Name()); err == nil {
				given = append(given, entry.Name())
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return given, err
}
