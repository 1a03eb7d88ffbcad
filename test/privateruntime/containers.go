package privateruntime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// criNamespace is the containerd namespace of CRI; runc keeps its containers in a directory of this name.
const criNamespace = "k8s.io"

// containers are the IDs that runc knows, of pods and of their containers.
func (i instance) containers() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(i.runcRoot(), criNamespace))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the runtime's containers: %w", err)
	}
	var ids []string
	for _, entry := range entries {
		ids = append(ids, entry.Name())
	}
	return ids, nil
}

// hasPods tells whether the runtime left something that only CRI and CNI can take away in an orderly manner.
func (i instance) hasPods() bool {
	ids, err := i.containers()
	caches, cacheErr := i.cacheFiles()
	namespaces, globErr := filepath.Glob(filepath.Join(i.daemonState(), "*", "netns", "*"))
	return err != nil || cacheErr != nil || globErr != nil || len(ids)+len(caches)+len(namespaces) > 0
}

// deleteContainers kills and deletes what CRI did not remove. runc finds processes by what it recorded itself.
func (i instance) deleteContainers(ctx context.Context) error {
	ids, err := i.containers()
	if err != nil || len(ids) == 0 {
		return err
	}
	runc, err := lookSystem("runc")
	if err != nil {
		return fmt.Errorf("delete the runtime's containers: %w; %s", err, advice)
	}
	var failed []error
	for _, id := range ids {
		command := exec.CommandContext(ctx, runc, "--root", filepath.Join(i.runcRoot(), criNamespace), "delete", "--force", id)
		if output, err := command.CombinedOutput(); err != nil {
			failed = append(failed, fmt.Errorf("delete container %s: %w: %s", id, err, bytes.TrimSpace(output)))
		}
	}
	return errors.Join(failed...)
}

// containerCgroups returns the directories of a container's cgroup, one per hierarchy, from runc's record of it.
func containerCgroups(runcRoot, id string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(runcRoot, criNamespace, id, "state.json"))
	if err != nil {
		return nil, fmt.Errorf("read runc's record of %s: %w", id, err)
	}
	var record struct {
		Paths map[string]string `json:"cgroup_paths"`
	}
	if err := json.Unmarshal(data, &record); err != nil {
		return nil, fmt.Errorf("read runc's record of %s: %w", id, err)
	}
	var paths []string
	for _, path := range record.Paths {
		if filepath.IsAbs(path) {
			paths = append(paths, filepath.Clean(path))
		}
	}
	return paths, nil
}
