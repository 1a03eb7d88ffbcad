package agent

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/gc"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/volume"
)

// removals ties workers and garbage collection together, which know nothing
// of each other.
type removals struct {
	collector *gc.Collector
	waits     *admission.Waits
	outcomes  *outcomes
	// adoption is nil for an agent without policies.
	adoption *adoption
}

// workerGone says that a pod is done with. Its status went with the worker,
// also where a pod of the same UID waits for a verdict.
func (r *removals) workerGone(uid types.UID) {
	r.waits.Forgotten(uid)
	r.outcomes.Forget(uid)
	r.adoption.ended(uid)
	r.collector.Nudge()
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
	*volume.Volumes
	removals *removals
}

// Setup waits and then sets up.
func (v *awaitedVolumes) Setup(ctx context.Context, p *v1.Pod) error {
	if err := v.removals.collector.Wait(ctx, p.UID); err != nil {
		return err
	}
	return v.Volumes.Setup(ctx, p)
}
