package gc

import (
	"context"
	"errors"

	"github.com/wardlet/wardlet/core/status"
)

// trim removes what is old of a pod that lives on: of each container name all
// instances that do not run but the newest instance and the newest dead one,
// and the sandboxes that are over and empty but the newest. None of it can
// become newest again, so the pod's worker is not in the way.
func (c *Collector) trim(ctx context.Context, p *status.ObservedPod) error {
	var errs []error
	inUse := map[string]bool{}
	seen, dead := map[string]bool{}, map[string]bool{}
	for i := range p.Containers {
		container := &p.Containers[i]
		keep := !seen[container.Name] || container.State == status.StateRunning
		seen[container.Name] = true
		if container.State == status.StateExited && !dead[container.Name] {
			keep, dead[container.Name] = true, true
		}
		if !keep {
			err := c.cfg.Runtime.RemoveContainer(ctx, p.UID, container.ID)
			keep = err != nil
			errs = append(errs, err)
		}
		if keep {
			inUse[container.SandboxID] = true
		}
	}
	for i := range p.Sandboxes {
		sandbox := &p.Sandboxes[i]
		if i > 0 && !sandbox.Ready && !inUse[sandbox.ID] {
			errs = append(errs, c.removeSandbox(ctx, sandbox.ID))
		}
	}
	return errors.Join(errs...)
}
