package worker

import (
	"context"
	"fmt"

	"github.com/wardlet/wardlet/core/status"
)

// cleanUp gives back what a stopped pod holds on the node. Its dead
// containers, logs and directories stay for people to look at; garbage
// collection has them later.
func (p *Pool) cleanUp(ctx context.Context, t turn, observed *status.ObservedPod) error {
	p.publish(t, observed, phase{terminal: true})
	if !p.Stopping(t.uid) {
		return nil // it was pushed out before it began
	}
	if err := p.cfg.Volumes.Teardown(ctx, t.uid); err != nil {
		return fmt.Errorf("tearing down volumes: %w", err)
	}
	if err := p.proceed(ctx); err != nil {
		return err
	}
	if err := p.cfg.Cgroups.Remove(ctx, t.uid); err != nil {
		return fmt.Errorf("removing the pod's cgroup: %w", err)
	}
	if st, ok := p.cfg.Statuses.Get(t.uid); ok {
		p.store(t, status.Finish(t.pod, st))
	}
	return nil
}
