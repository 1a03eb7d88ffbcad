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

// removed is called after the worker of a pod was removed. The pod's status was removed with it,
// even if a pod of the same UID waits for a verdict.
func (a *Agent) removed(uid types.UID) {
	a.waits.Forgotten(uid)
	a.deps.Outcomes.Forget(uid)
	if a.deps.Workers.OnRemoved != nil {
		a.deps.Workers.OnRemoved(uid)
	}
	a.garbage.Ended(uid)
}

// shownStatuses are the statuses of pods. If a status is deleted while a pod of that UID waits, the
// waiting pod gets its own status again.
type shownStatuses struct {
	*status.Store
	waits *admission.Waits
}

// DeleteEnded forgets a pod that has ended.
func (s shownStatuses) DeleteEnded(uid types.UID) {
	s.Store.DeleteEnded(uid)
	s.waits.Forgotten(uid)
}

// awaitedVolumes sets volumes up after the remains of an earlier pod of the same UID are removed.
// Setup is the first change that a worker makes on the node.
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

// endedCgroups are the cgroups of pods, for workers. A pod's cgroup is removed when all containers
// of the pod have terminated. It is the last thing that a worker releases: from then on the pod's
// remains may be removed, if no source wants the pod.
type endedCgroups struct {
	worker.Cgroups
	agent *Agent
}

// Remove removes a pod's cgroup and the processes in it that the runtime has forgotten, and
// requests garbage collection of the pod's remains.
func (c *endedCgroups) Remove(ctx context.Context, uid types.UID) error {
	if err := c.Cgroups.Remove(ctx, uid); err != nil {
		return err
	}
	c.agent.garbage.Ended(uid)
	return nil
}

// removable decides which pods may be removed. It combines the answers of several parts.
type removable struct {
	// loop decides for pods that have no worker, or whose worker is still to be stopped.
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

// Removable implements gc.Pods. If no source wants a pod and its worker has seen it terminate, the
// pod can be removed without waiting for housekeeping of the loop.
func (r removable) Removable(uid types.UID, source string) bool {
	if source != "" && r.workers.KnownTerminated(uid) && r.mux.Seen(source) && !r.mux.Wanted(uid) {
		return true
	}
	return r.loop.Removable(uid, source)
}

// over reports whether a pod's worker has finished and keeps only the pod's status.
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

// leftCgroups are the cgroups of pods, for garbage collection. A pod without a worker may have left
// processes that the runtime has forgotten, for example from an interrupted start. Remove kills
// them with the cgroup, but only if this agent has the pod's directory: the root of cgroups may be
// shared with an agent of another runtime, and the pod directories are not.
type leftCgroups struct {
	gc.Cgroups
	// owner returns an error if the pod has no directory.
	owner func(uid types.UID) (*v1.Pod, error)
	end   func(ctx context.Context, uid types.UID) error
	// idle reports whether, as far as the runtime knows, nothing of a pod runs and nothing of it is
	// foreign.
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
