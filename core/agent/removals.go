package agent

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/gc"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/worker"
)

// removed is called when the worker of a pod is removed. The pod's status went with it,
// also where a pod of the same UID waits for a verdict.
func (a *Agent) removed(uid types.UID) {
	a.waits.Forgotten(uid)
	a.deps.Outcomes.Forget(uid)
	if a.deps.Workers.OnRemoved != nil {
		a.deps.Workers.OnRemoved(uid)
	}
	a.garbage.Ended(uid)
}

// shownStatuses are statuses of which a pod that waits keeps its own.
type shownStatuses struct {
	*status.Store
	waits *admission.Waits
}

// DeleteEnded forgets a pod that has ended.
func (s shownStatuses) DeleteEnded(uid types.UID) {
	s.Store.DeleteEnded(uid)
	s.waits.Forgotten(uid)
}

// awaitedVolumes sets volumes up once nothing of an earlier life of the pod is
// being removed any more. Setup is the first thing a worker makes on the node.
type awaitedVolumes struct {
	worker.Volumes
	agent *Agent
}

// Setup waits and then sets up.
func (v *awaitedVolumes) Setup(ctx context.Context, p *v1.Pod) error {
	if err := v.agent.garbage.Wait(ctx, p.UID); err != nil {
		return err
	}
	return v.Volumes.Setup(ctx, p)
}

// endedCgroups are the cgroups of pods, for workers. A pod's goes when all of its
// containers have ended, and is the last thing that its worker releases: what the pod
// leaves may go from then on, if no source wants the pod any more.
type endedCgroups struct {
	worker.Cgroups
	agent *Agent
}

// Remove removes a pod's cgroup, with what the runtime has forgotten in it, and
// has the rest collected.
func (c *endedCgroups) Remove(ctx context.Context, uid types.UID) error {
	if err := c.Cgroups.Remove(ctx, uid); err != nil {
		return err
	}
	c.agent.garbage.Ended(uid)
	return nil
}

// removable knows which pods may go, of which more than one part has a say.
type removable struct {
	// loop says so of pods that have no worker, or whose worker will be told.
	loop interface {
		Removable(uid types.UID, source string) bool
	}
	mux interface {
		Wanted(uid types.UID) bool
		Seen(source string) bool
	}
	workers interface {
		KnownTerminated(uid types.UID) bool
	}
}

// Removable implements gc.Pods. A pod that no source wants and whose worker has seen
// it end needs no housekeeping to go.
func (r removable) Removable(uid types.UID, source string) bool {
	if source != "" && r.workers.KnownTerminated(uid) && r.mux.Seen(source) && !r.mux.Wanted(uid) {
		return true
	}
	return r.loop.Removable(uid, source)
}

// over reports whether a pod's worker is done with it and keeps only its status.
func (a *Agent) over(uid types.UID) bool {
	return a.workers.Has(uid) && a.workers.ContentRemovable(uid)
}

// remains reports whether the runtime has, or may have, something of a pod.
func (a *Agent) remains(uid types.UID) bool {
	_, listed := a.cache.Pods()
	return listed.IsZero() || a.workers.InRuntime(uid)
}

// knownPods are the pods as they were last seen.
func (a *Agent) knownPods() []status.ObservedPod {
	pods, _ := a.cache.Pods()
	return pods
}

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
