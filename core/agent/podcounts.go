package agent

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/metrics"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// countPods counts them as they are now.
func (a *Agent) countPods() metrics.PodCounts {
	c := metrics.PodCounts{
		Desired: map[bool]int{}, Active: map[bool]int{}, Containers: map[string]int{}, Working: map[metrics.Work]int{},
	}
	wanted := map[string]bool{}
	for _, d := range a.mux.Pods() {
		if pod.IsMirror(d.Pod) {
			c.Mirrors++
			continue
		}
		wanted[string(d.Pod.UID)] = true
		static := pod.IsStatic(d.Pod)
		c.Desired[static]++
		// One for which there is no room yet has no worker.
		if a.uses(d.Pod.UID, d.Admitted && a.workers.Has(d.Pod.UID) && !a.hasEnded(d.Pod)) {
			c.Active[static]++
		}
		if a.workers.Has(d.Pod.UID) {
			c.Working[metrics.Work{Lifecycle: a.lifecycle(d.Pod.UID), Config: metrics.WorkDesired, Static: staticLabel(static)}]++
		}
	}
	for _, e := range a.workers.Ending() {
		if wanted[string(e.Pod.UID)] {
			continue
		}
		static := pod.IsStatic(e.Pod)
		if a.uses(e.Pod.UID, false) {
			c.Active[static]++
		}
		c.Working[metrics.Work{Lifecycle: a.lifecycle(e.Pod.UID), Config: metrics.WorkOrphan, Static: staticLabel(static)}]++
	}
	c.Working[metrics.Work{Lifecycle: metrics.WorkTerminating, Config: metrics.WorkRuntimeOnly, Static: metrics.WorkUnknown}] = len(a.workers.Strays())
	observed, _ := a.cache.Pods()
	for i := range observed {
		countObserved(&c, &observed[i])
	}
	return c
}

// countObserved counts what the runtime shows of a pod.
func countObserved(c *metrics.PodCounts, p *status.ObservedPod) {
	for i := range p.Sandboxes {
		if p.Sandboxes[i].Ready {
			c.Running++
			break
		}
	}
	for i := range p.Containers {
		c.Containers[string(p.Containers[i].State)]++
	}
}

// uses reports whether a pod may use the node: it is being ended, or is to run.
func (a *Agent) uses(uid types.UID, runs bool) bool {
	return !a.workers.KnownTerminated(uid) && (runs || a.workers.TerminationRequested(uid))
}

// hasEnded reports whether the pod's phase is one it never leaves.
func (a *Agent) hasEnded(p *v1.Pod) bool {
	st, _ := a.statuses.Get(p.UID)
	return pod.IsTerminal(p.Status.Phase) || pod.IsTerminal(st.Phase)
}

// lifecycle is how far a pod with a worker is.
func (a *Agent) lifecycle(uid types.UID) string {
	switch {
	case a.workers.KnownTerminated(uid):
		return metrics.WorkTerminated
	case a.workers.TerminationRequested(uid):
		return metrics.WorkTerminating
	}
	return metrics.WorkSync
}

func staticLabel(static bool) string {
	if static {
		return metrics.WorkStatic
	}
	return ""
}
