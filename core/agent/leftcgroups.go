package agent

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/gc"
)

// leftCgroups are the cgroups of pods, for garbage collection. A pod without a
// worker may have left processes that the runtime has forgotten, as of a start that
// was cut off: they end with its cgroup, if it is clear whose they are. The root of
// cgroups may be shared with an agent of another runtime, the pod directories are
// not.
type leftCgroups struct {
	gc.Cgroups
	// owner fails where the pod has no directory.
	owner func(uid types.UID) (*v1.Pod, error)
	end   func(ctx context.Context, uid types.UID) error
	// idle reports whether nothing of a pod runs for all that the runtime knows, and
	// nothing of it is foreign.
	idle func(ctx context.Context, uid types.UID) (bool, error)
}

// Remove removes a pod's cgroup.
func (c leftCgroups) Remove(ctx context.Context, uid types.UID) error {
	err := c.Cgroups.Remove(ctx, uid)
	if err == nil {
		return nil
	}
	if _, unknown := c.owner(uid); unknown != nil {
		return err
	}
	if idle, asked := c.idle(ctx, uid); asked != nil || !idle {
		return err
	}
	return c.end(ctx, uid)
}
