package worker

import (
	"context"

	"github.com/wardlet/wardlet/core/status"
)

// prune removes the old instances of a container that is about to be started:
// those that never started, and the dead ones except the newest, from which
// the container's last state is read.
func (p *Pool) prune(ctx context.Context, t turn, name string, observed *status.ObservedPod) {
	kept := false
	for i := range observed.Containers {
		c := &observed.Containers[i]
		if c.Name != name || (c.State != status.StateExited && c.State != status.StateCreated) {
			continue
		}
		if c.State == status.StateExited && !kept {
			kept = true
			continue
		}
		if p.proceed(ctx) != nil {
			return
		}
		if err := p.cfg.Runtime.RemoveContainer(ctx, t.uid, c.ID); err != nil {
			p.log.Warn("old container instance not removed", append(logPod(t.pod, t.uid), "container", name, "id", c.ID, "err", err)...)
		}
	}
}
