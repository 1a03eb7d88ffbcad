package gc

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Wait returns once nothing of the pod is being removed, or with the error of ctx. A pod's worker
// calls it before it makes the pod's first directory or cgroup, so that a pod that is created again
// with its old UID keeps what the worker makes.
//
// claim first marks the UID and then checks whether the pod is removable. A worker first exists,
// which makes the pod not removable, and then waits here. Whichever came first, either claim sees
// the worker or the worker sees the mark. Everything that is removed under the mark was made
// before, and the worker makes all of it again.
func (c *Collector) Wait(ctx context.Context, uid types.UID) error {
	for {
		c.mu.Lock()
		removed, claimed := c.claims[uid]
		c.mu.Unlock()
		if !claimed {
			return nil
		}
		select {
		case <-removed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for what is left of pod %s to be removed: %w", uid, context.Cause(ctx))
		}
	}
}

// claim marks a pod as being removed if it is removable. The caller calls release when it has
// finished.
func (c *Collector) claim(uid types.UID, source string) (release func(), ok bool) {
	removed := make(chan struct{})
	c.mu.Lock()
	c.claims[uid] = removed
	c.mu.Unlock()
	release = func() {
		c.mu.Lock()
		delete(c.claims, uid)
		c.mu.Unlock()
		close(removed)
	}
	if !c.cfg.Pods.Removable(uid, source) {
		release()
		return nil, false
	}
	return release, true
}
