package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/test/harness"
)

// leaks returns what is left when no pod is asked for any more, in words. kept is what containerd
// keeps.
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

// forgotten returns what containerd still has of pods although it does not list them. It forgets
// some when it is killed or a call to it is canceled. No agent could release these, so they are
// reported, but break no rule.
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

// addressesIn returns the addresses of which the address plugin has a file.
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

// containerd may keep a container if it is frozen or slow while the agent that starts the container
// is killed. It then has a task of the container, reports that the container has exited, and does
// not let it be removed until containerd is restarted (its issue 11037). CRI has no call for this
// case. No rule is broken if all of this holds: containerd has the task, it reports that
// the container has exited, the agent logs the problem and the remedy, nothing else of the pod is
// left, and after the remedy nothing at all is left.

// keptContainers returns the IDs of the containers that containerd keeps, and of their sandboxes.
func (n *node) keptContainers(v *view) (map[string]bool, error) {
	return keptIn(v, n.tasks(), n.LogFile())
}

// tasks returns the directory in which containerd has a directory for every task, named by the ID
// of its container.
func (n *node) tasks() string {
	return filepath.Join(filepath.Dir(n.Runtime.Socket()), "state", "io.containerd.runtime.v2.task", "k8s.io")
}

func keptIn(v *view, tasks, agentLog string) (map[string]bool, error) {
	kept := map[string]bool{}
	for i := range v.containers {
		u := &v.containers[i]
		if u.state != dead {
			continue
		}
		switch _, err := os.Stat(filepath.Join(tasks, u.id)); {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		log, err := os.ReadFile(agentLog)
		if err != nil {
			return nil, err
		}
		if saysKept(string(log), u.id) {
			kept[u.id], kept[u.sandbox] = true, true
		}
	}
	return kept, nil
}

// saysKept reports whether the agent's log says that the runtime keeps a container.
func saysKept(log, id string) bool {
	for line := range strings.Lines(log) {
		if strings.Contains(line, status.ErrContainerStuck.Error()) && strings.Contains(line, id) {
			return true
		}
	}
	return false
}

// restartForKept applies the agent's remedy for containers that are kept: it restarts containerd.
func (r *run) restartForKept(ctx context.Context, kept []unit) error {
	for i := range kept {
		r.timeline.add("(kept by containerd, which has its task and says that it has ended: %s)", &kept[i])
	}
	if err := r.node.Runtime.Shutdown(ctx); err != nil {
		return fmt.Errorf("end containerd for what it keeps: %w", err)
	}
	if err := r.node.Runtime.Resume(ctx); err != nil {
		return fmt.Errorf("start containerd for what it keeps: %w", err)
	}
	r.timeline.add("containerd is started again, as the agent says is to be done")
	return nil
}

// keptLongest is the longest time for which the agent leaves kept containers alone.
const keptLongest = 30 * time.Second
