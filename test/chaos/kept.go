package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

// containerd that is frozen, or slow, while the agent that has it start a container is killed may keep that container: it
// has a task of it, says that it has ended, and does not let it be removed until it is started again (its issue 11037).
// There is nothing that CRI has for that. No rule is broken where all of this is so: containerd has the task, it says that
// the container has ended, the agent says what is the matter and what to do, of the pod there is nothing else left, and
// once it is done there is nothing at all.

// keptContainers are the IDs of those, and of their sandboxes.
func (n *node) keptContainers(v *view) (map[string]bool, error) {
	return keptIn(v, n.tasks(), n.LogFile())
}

// tasks is the directory in which containerd has one for every task, by the ID of its container.
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

// saysKept reports whether the agent says of a container that the runtime keeps it.
func saysKept(log, id string) bool {
	for line := range strings.Lines(log) {
		if strings.Contains(line, status.ErrContainerStuck.Error()) && strings.Contains(line, id) {
			return true
		}
	}
	return false
}

// restartForKept does what the agent says is to be done about containers that are kept.
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

// keptLongest is how long the agent leaves containers alone at most that are kept.
const keptLongest = 30 * time.Second
