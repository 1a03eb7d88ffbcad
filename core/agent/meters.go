package agent

import (
	"context"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/checkpoint"
	"github.com/wardlet/wardlet/core/metrics"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/worker"
)

// meteredWorkers counts what is asked of workers.
type meteredWorkers struct {
	syncloop.Workers
	meters *meters
}

// Update hands a request on.
func (w meteredWorkers) Update(r worker.Request) {
	if r.Kind == worker.Create && r.Pod != nil {
		switch uid := r.Pod.UID; {
		case w.TerminationRequested(uid):
			w.meters.workers.Restarted(pod.IsStatic(r.Pod))
		case !w.Has(uid):
			w.meters.starts.begun(r.Pod, r.Origin.FirstSeen, time.Now())
		}
	}
	w.Workers.Update(r)
}

// Known hands on which pods are wanted.
func (w meteredWorkers) Known(wanted func(types.UID) bool) map[types.UID]worker.State {
	states := w.Workers.Known(wanted)
	w.meters.starts.keep(func(uid types.UID) bool {
		_, has := states[uid]
		return has
	})
	return states
}

// KillStray ends a pod that only the runtime knows.
func (w meteredWorkers) KillStray(s *worker.Stray) {
	w.meters.workers.Orphaned()
	w.Workers.KillStray(s)
}

// meteredOutcomes times pods until they run, and counts the containers that end.
type meteredOutcomes struct {
	*checkpoint.Outcomes
	meters *meters
	// shown gives the status that is published of a pod.
	shown func(uid types.UID) (v1.PodStatus, bool)
}

// Keep implements worker.Outcomes.
func (o meteredOutcomes) Keep(p *v1.Pod, st *v1.PodStatus) {
	o.count(p, st)
	o.Outcomes.Keep(p, st)
}

// Goes implements worker.Outcomes.
func (o meteredOutcomes) Goes(p *v1.Pod, st *v1.PodStatus) { o.count(p, st) }

func (o meteredOutcomes) count(p *v1.Pod, st *v1.PodStatus) {
	o.meters.starts.is(p.UID, st.Phase, time.Now())
	before, _ := o.shown(p.UID)
	for i := range st.ContainerStatuses {
		if c := &st.ContainerStatuses[i]; c.State.Terminated != nil && !endedIn(&before, c.Name) {
			o.meters.terminations.Terminated(c.State.Terminated.ExitCode, c.State.Terminated.Reason)
		}
	}
}

// endedIn reports whether a status shows the container as ended.
func endedIn(st *v1.PodStatus, name string) bool {
	return slices.ContainsFunc(st.ContainerStatuses, func(c v1.ContainerStatus) bool {
		return c.Name == name && c.State.Terminated != nil
	})
}

// meteredRuntime counts what is made of sandboxes and containers.
type meteredRuntime struct {
	worker.Runtime
	workers *metrics.Workers
}

// RunSandbox implements worker.Runtime. That the pod is to end meanwhile is no
// error.
func (r meteredRuntime) RunSandbox(ctx context.Context, run pod.SandboxRun) (string, error) {
	began := time.Now()
	id, err := r.Runtime.RunSandbox(ctx, run)
	handler := "" // the runtime's own: pods cannot name one
	r.workers.Sandbox(handler, time.Since(began), err != nil && ctx.Err() == nil)
	return id, err
}

// StartContainer implements worker.Runtime.
func (r meteredRuntime) StartContainer(ctx context.Context, run pod.ContainerRun) (string, error) {
	id, err := r.Runtime.StartContainer(ctx, run)
	if err != nil && ctx.Err() == nil {
		r.workers.NotStarted(status.ReasonOf(err, "RunContainerError").Reason)
	}
	return id, err
}

// meteredImages counts the containers that are about to be started: an image is
// the first thing they need.
type meteredImages struct {
	worker.Images
	workers *metrics.Workers
}

// Ensure implements worker.Images.
func (i meteredImages) Ensure(ctx context.Context, p *v1.Pod, c *v1.Container) (string, error) {
	i.workers.Starting()
	ref, err := i.Images.Ensure(ctx, p, c)
	if err != nil && ctx.Err() == nil {
		i.workers.NotStarted(status.ReasonOf(err, "ErrImagePull").Reason)
	}
	return ref, err
}
