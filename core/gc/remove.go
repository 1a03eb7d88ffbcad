package gc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/rmtree"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// remove removes everything of a pod, and last the objects that name it. It stops at the first
// error; the next pass finds what is left. Only a container that the runtime keeps does not stop
// it, but the container's sandbox is kept too. A pod with something running is left to a worker,
// which terminates it gracefully.
func (c *Collector) remove(ctx context.Context, uid types.UID, observed *status.ObservedPod) error {
	if observed == nil {
		return c.removeLocal(ctx, uid)
	}
	if observed.Running() {
		return nil
	}
	gone, kept, err := c.removeContainers(ctx, observed)
	if err != nil {
		return err
	}
	inUse := sandboxesInUse(observed, gone)
	for i := range observed.Sandboxes {
		s := &observed.Sandboxes[i]
		switch {
		case !inUse[s.ID]:
			err = c.removeSandbox(ctx, s.ID)
		case s.Ready:
			err = c.stopSandbox(ctx, s.ID)
		}
		if err != nil {
			return err
		}
	}
	if err := c.removeLocal(ctx, uid); err != nil {
		return err
	}
	return kept
}

// removeContainers removes the containers of a pod that has ended, and continues if the runtime
// keeps one.
func (c *Collector) removeContainers(ctx context.Context, p *status.ObservedPod) (gone map[string]bool, kept, err error) {
	gone = map[string]bool{}
	for i := range p.Containers {
		container := &p.Containers[i]
		err := c.removeContainer(ctx, p.UID, container)
		switch {
		case err == nil:
			gone[container.ID] = true
		case errors.Is(err, status.ErrContainerStuck):
			kept = errors.Join(kept, err)
		default:
			return gone, kept, err
		}
	}
	return gone, kept, nil
}

// removeLocal removes everything of a pod but containers and sandboxes.
func (c *Collector) removeLocal(ctx context.Context, uid types.UID) error {
	if err := c.removeLogs(ctx, uid); err != nil {
		return err
	}
	if err := c.proceed(ctx); err != nil {
		return err
	}
	if err := c.cfg.Volumes.Teardown(ctx, uid); err != nil {
		return err
	}
	if err := c.cfg.Cgroups.Remove(ctx, uid); err != nil {
		return err
	}
	return c.cfg.Volumes.Remove(ctx, uid)
}

func (c *Collector) stopSandbox(ctx context.Context, id string) error {
	if err := c.proceed(ctx); err != nil {
		return err
	}
	return c.cfg.Runtime.StopSandbox(ctx, id)
}

func (c *Collector) removeSandbox(ctx context.Context, id string) error {
	if err := c.stopSandbox(ctx, id); err != nil {
		return err
	}
	if err := c.proceed(ctx); err != nil {
		return err
	}
	if err := c.cfg.Runtime.RemoveSandbox(ctx, id); err != nil {
		return err
	}
	c.removed(id)
	return nil
}

// removeLogs removes the pod's log directories and the links into them. There may be several,
// because the pod may have had another name before, under the same UID.
func (c *Collector) removeLogs(ctx context.Context, uid types.UID) error {
	if err := c.proceed(ctx); err != nil {
		return err
	}
	if err := c.removeLogDirs(ctx, uid); err != nil {
		return fmt.Errorf("logs of a pod: %w", err)
	}
	return nil
}

func (c *Collector) removeLogDirs(ctx context.Context, uid types.UID) error {
	err := c.eachLink(func(link, target string) error {
		if c.logsOf(target) != uid {
			return nil
		}
		return removeLink(link)
	})
	if err != nil {
		return err
	}
	parent := c.podLogsDir()
	entries, err := os.ReadDir(parent)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if pod.LogDirUID(entry.Name()) != uid {
			continue
		}
		if err := rmtree.Remove(ctx, parent, entry.Name()); err != nil {
			return err
		}
	}
	return nil
}

// logsOf returns the pod whose log directory contains a path, empty for none.
func (c *Collector) logsOf(path string) types.UID {
	below, ours := strings.CutPrefix(path, c.podLogsDir()+"/")
	dir, _, inside := strings.Cut(below, "/")
	if !ours || !inside {
		return ""
	}
	return pod.LogDirUID(dir)
}

func (c *Collector) podLogsDir() string { return filepath.Join(c.cfg.Layout.LogRoot, "pods") }

// eachLink calls do for every link in the directory that log collectors read.
func (c *Collector) eachLink(do func(link, target string) error) error {
	dir := c.cfg.Layout.LogLinksDir()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		link := filepath.Join(dir, entry.Name())
		target, err := os.Readlink(link)
		if err != nil {
			continue
		}
		if err := do(link, target); err != nil {
			return err
		}
	}
	return nil
}

func removeLink(link string) error {
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
