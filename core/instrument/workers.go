package instrument

import (
	"context"
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

// Workers counts the requests to workers.
type Workers struct {
	syncloop.Workers
	Meters *Meters
}

// Submit passes a request on.
func (w Workers) Submit(r worker.Request) {
	if r.Kind == worker.Create && r.Pod != nil {
		switch uid := r.Pod.UID; {
		case w.TerminationRequested(uid):
			w.Meters.Workers.Restarted(pod.IsStatic(r.Pod))
		case !w.Has(uid):
			w.Meters.starts.begun(r.Pod, r.Origin.FirstSeen, time.Now())
		}
	}
	w.Workers.Submit(r)
}

// SyncKnownPods passes on which pods are wanted.
func (w Workers) SyncKnownPods(wanted func(types.UID) bool) map[types.UID]worker.State {
	states := w.Workers.SyncKnownPods(wanted)
	w.Meters.starts.keep(func(uid types.UID) bool {
		_, has := states[uid]
		return has
	})
	return states
}

// KillOrphan terminates a pod that is known only from the runtime.
func (w Workers) KillOrphan(s *worker.Orphan) {
	w.Meters.Workers.Orphaned()
	w.Workers.KillOrphan(s)
}

// Outcomes measures the time until pods run, and counts the terminated containers.
type Outcomes struct {
	*checkpoint.Outcomes
	Meters *Meters
	// Shown returns the published status of a pod.
	Shown func(uid types.UID) (v1.PodStatus, bool)
}

// Save implements worker.Outcomes.
func (o Outcomes) Save(p *v1.Pod, st *v1.PodStatus) {
	o.count(p, st)
	o.Outcomes.Save(p, st)
}

// Discard implements worker.Outcomes.
func (o Outcomes) Discard(p *v1.Pod, st *v1.PodStatus) { o.count(p, st) }

func (o Outcomes) count(p *v1.Pod, st *v1.PodStatus) {
	o.Meters.starts.is(p.UID, st.Phase, time.Now())
	before, _ := o.Shown(p.UID)
	for c := range pod.Statuses(st) {
		if c.State.Terminated != nil && !endedIn(&before, c.Name) {
			o.Meters.Terminations.Terminated(c.State.Terminated.ExitCode, c.State.Terminated.Reason)
		}
	}
}

// endedIn reports whether a status shows the container as ended.
func endedIn(st *v1.PodStatus, name string) bool {
	c := pod.ContainerStatus(st, name)
	return c != nil && c.State.Terminated != nil
}

// Runtime counts the creation of sandboxes and containers.
type Runtime struct {
	worker.Runtime
	Metrics *metrics.Workers
}

// RunSandbox implements worker.Runtime. An interruption because the pod is to terminate is not
// counted as an error.
func (r Runtime) RunSandbox(ctx context.Context, run pod.SandboxRun) (string, error) {
	began := time.Now()
	id, err := r.Runtime.RunSandbox(ctx, run)
	handler := "" // the runtime's own: pods cannot name one
	r.Metrics.Sandbox(handler, time.Since(began), err != nil && ctx.Err() == nil)
	return id, err
}

// StartContainer implements worker.Runtime.
func (r Runtime) StartContainer(ctx context.Context, run pod.ContainerRun) (string, error) {
	id, err := r.Runtime.StartContainer(ctx, run)
	if err != nil && ctx.Err() == nil {
		r.Metrics.NotStarted(status.ReasonOf(err, "RunContainerError").Reason)
	}
	return id, err
}

// Images counts the containers that are about to be started, because pulling the image is the first
// step.
type Images struct {
	worker.Images
	Metrics *metrics.Workers
}

// Ensure implements worker.Images.
func (i Images) Ensure(ctx context.Context, p *v1.Pod, c *v1.Container) (string, error) {
	i.Metrics.Starting()
	ref, err := i.Images.Ensure(ctx, p, c)
	if err != nil && ctx.Err() == nil {
		i.Metrics.NotStarted(status.ReasonOf(err, "ErrImagePull").Reason)
	}
	return ref, err
}
