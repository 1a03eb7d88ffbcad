package gc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// unknownGrace is the grace period of a container in an unknown state before it is removed.
const unknownGrace = 2 * time.Second

// trim removes the old objects of a pod that is kept: the containers beyond its limits, the dead
// ones in over, and the stopped, empty sandboxes except the newest sandbox.
func (c *Collector) trim(ctx context.Context, p *status.ObservedPod, over map[string]bool) error {
	var errs []error
	gone := map[string]bool{}
	drop := func(container *status.ObservedContainer) {
		if err := c.removeContainer(ctx, p.UID, container); err != nil {
			errs = append(errs, err)
			return
		}
		gone[container.ID] = true
	}
	for _, container := range c.cfg.Limits.surplus(p, c.cfg.Now()) {
		drop(container)
	}
	for i := range p.Containers {
		if container := &p.Containers[i]; over[container.ID] && !gone[container.ID] && dead(container) {
			drop(container)
		}
	}
	errs = append(errs, c.trimSandboxes(ctx, p, gone, 1))
	return errors.Join(errs...)
}

// empty removes the dead containers, the sandboxes and the logs of a pod that has ended but is
// still shown.
func (c *Collector) empty(ctx context.Context, p *status.ObservedPod) error {
	if p.Running() {
		return nil
	}
	gone, kept, err := c.removeContainers(ctx, p)
	if err != nil {
		return err
	}
	if err := c.trimSandboxes(ctx, p, gone, 0); err != nil {
		return err
	}
	if err := c.removeLogs(ctx, p.UID); err != nil {
		return err
	}
	return kept
}

// trimSandboxes removes the stopped sandboxes without containers, except the newest keep ones. gone
// are containers that were removed.
func (c *Collector) trimSandboxes(ctx context.Context, p *status.ObservedPod, gone map[string]bool, keep int) error {
	inUse := sandboxesInUse(p, gone)
	var errs []error
	for i := range p.Sandboxes {
		if s := &p.Sandboxes[i]; i >= keep && !s.Ready && !inUse[s.ID] {
			errs = append(errs, c.removeSandbox(ctx, s.ID))
		}
	}
	return errors.Join(errs...)
}

// sandboxesInUse returns the sandboxes that have containers. gone are containers that were removed.
func sandboxesInUse(p *status.ObservedPod, gone map[string]bool) map[string]bool {
	inUse := map[string]bool{}
	for i := range p.Containers {
		if container := &p.Containers[i]; !gone[container.ID] {
			inUse[container.SandboxID] = true
		}
	}
	return inUse
}

// removeContainer removes a dead container. A container in an unknown state may still run, so it is
// stopped first. A container that the runtime keeps is tried again only after a delay.
func (c *Collector) removeContainer(ctx context.Context, uid types.UID, container *status.ObservedContainer) error {
	if err := c.proceed(ctx); err != nil {
		return err
	}
	if container.State == status.StateUnknown {
		c.cfg.Log.Info("container of a pod that is over is in an unknown state, it is ended before it is removed",
			"uid", uid, "container", container.Name, "id", container.ID)
		if err := c.cfg.Runtime.StopContainer(ctx, container.ID, unknownGrace); err != nil {
			return fmt.Errorf("ending a container of unknown state: %w", err)
		}
		if err := c.proceed(ctx); err != nil {
			return err
		}
	}
	if err := c.keptYet(container.ID); err != nil {
		return err
	}
	err := c.cfg.Runtime.RemoveContainer(ctx, uid, container.ID)
	switch {
	case err == nil:
		c.removed(container.ID)
	case errors.Is(err, status.ErrContainerStuck):
		c.keep(container.ID, err)
	}
	return err
}

// trimmable reports whether trim would remove something.
func (c *Collector) trimmable(p *status.ObservedPod) bool {
	if len(c.cfg.Limits.surplus(p, c.cfg.Now())) > 0 {
		return true
	}
	inUse := sandboxesInUse(p, nil)
	for i := range p.Sandboxes {
		if s := &p.Sandboxes[i]; i > 0 && !s.Ready && !inUse[s.ID] {
			return true
		}
	}
	return false
}
