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
	"github.com/wardlet/wardlet/core/status"
)

// remove removes everything of a pod, what names it last. The first error
// ends it: what is left is found again by the next pass. A pod of which
// something runs is left to a worker, which ends it gracefully.
func (c *Collector) remove(ctx context.Context, uid types.UID, observed *status.ObservedPod, logs string) error {
	if observed != nil {
		if observed.Running() {
			return nil
		}
		for i := range observed.Containers {
			if err := c.cfg.Runtime.RemoveContainer(ctx, uid, observed.Containers[i].ID); err != nil {
				return err
			}
		}
		for i := range observed.Sandboxes {
			if err := c.removeSandbox(ctx, observed.Sandboxes[i].ID); err != nil {
				return err
			}
		}
	}
	if logs != "" {
		if err := c.removeLogs(ctx, logs); err != nil {
			return err
		}
	}
	if err := c.cfg.Volumes.Teardown(ctx, uid); err != nil {
		return err
	}
	if err := c.cfg.Cgroups.Remove(ctx, uid); err != nil {
		return err
	}
	return c.cfg.Volumes.Remove(ctx, uid)
}

func (c *Collector) removeSandbox(ctx context.Context, id string) error {
	if err := c.cfg.Runtime.StopSandbox(ctx, id); err != nil {
		return err
	}
	return c.cfg.Runtime.RemoveSandbox(ctx, id)
}

// removeLogs removes the pod's log directory and the links that lead into it.
func (c *Collector) removeLogs(ctx context.Context, name string) error {
	parent, links := filepath.Join(c.cfg.Layout.LogRoot, "pods"), c.cfg.Layout.LogLinksDir()
	entries, err := os.ReadDir(links)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("logs of a pod: %w", err)
	}
	for _, entry := range entries {
		link := filepath.Join(links, entry.Name())
		target, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(target, filepath.Join(parent, name)+"/") {
			continue
		}
		if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("logs of a pod: %w", err)
		}
	}
	if err := rmtree.Remove(ctx, parent, name); err != nil {
		return fmt.Errorf("logs of a pod: %w", err)
	}
	return nil
}
