package agent

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
)

// runningPods are the pods that run, for policies that judge them again when they
// change. They ask the mux, which is made later.
type runningPods struct{ agent *Agent }

// Pods implements policy.Running.
func (r *runningPods) Pods() []policy.RunningPod {
	var pods []policy.RunningPod
	for _, d := range r.agent.mux.Pods() {
		if !d.HandedOn || !d.Admitted || pod.IsMirror(d.Pod) || d.Pod.DeletionTimestamp != nil || r.over(d.Pod) {
			continue
		}
		pods = append(pods, policy.RunningPod{Pod: d.Pod, Origin: d.Origin, Verdict: d.Verdict, Rejected: d.Rejected})
	}
	return pods
}

// over reports whether a pod has ended or is being ended.
func (r *runningPods) over(p *v1.Pod) bool {
	if st, ok := r.agent.statuses.Get(p.UID); ok && pod.IsTerminal(st.Phase) {
		return true
	}
	return pod.IsTerminal(p.Status.Phase) || r.agent.workers.TerminationRequested(p.UID)
}

// Violates implements policy.Running.
func (r *runningPods) Violates(p *v1.Pod, v policy.Violation) {
	r.agent.statuses.Violates(p.UID, v.Reason, v.Message, time.Now())
}

// Tell implements policy.Running.
func (r *runningPods) Tell(p *v1.Pod, reason, message string) {
	r.agent.recorder.Event(p, v1.EventTypeWarning, reason, message)
}

// Judged implements policy.Running.
func (r *runningPods) Judged(opinions []api.Opinion) { r.agent.meters.verdicts.Spent(opinions) }

// Evict implements policy.Running.
func (r *runningPods) Evict(ctx context.Context, p *v1.Pod, v api.Verdict) error {
	return r.agent.mux.Evict(ctx, p, v)
}
