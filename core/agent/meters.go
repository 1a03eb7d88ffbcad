package agent

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/instrument"
	"github.com/wardlet/wardlet/core/metrics"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/syncloop"
)

// newMeters makes the meters. It must run before the parts that use them are made. Some values are
// read from the parts at each scrape.
func (n *Node) newMeters(v2 bool) (*instrument.Meters, *metrics.PLEG) {
	m := instrument.New(instrument.Options{
		Node: n.node, Version: api.NewVersion(n.version).Version, Tenants: n.cfg.Tenants, CgroupV2: v2, Policies: n.cfg.HasPolicies(), Logger: n.log,
	})
	m.Metrics.Pods(n.countPods)
	m.Metrics.Sources(func() []api.SourceState { return n.mux.Sources() })
	m.Metrics.Waits(m.Tenants, func() []api.Waiting { return n.asking().List() }, func() []api.Conflict { return n.mux.Conflicts() })
	if m.Verdicts != nil {
		m.Metrics.Policies(func() []api.PolicySet { return n.policies.Sets() })
	}
	return m, m.Metrics.PLEG(func() time.Time { return n.pleg.Listed() })
}

// meteredAdmitter returns the agent's admitter, wrapped to count preemptions.
func (n *Node) meteredAdmitter() syncloop.Admitter {
	return instrument.Admitter{Admitter: n.admitter(), Fit: admission.Fit{Node: n.object.Node}, Rejections: n.meters.Rejections}
}

// countPods counts the pods as they are now.
func (n *Node) countPods() metrics.PodCounts {
	c := metrics.PodCounts{
		Desired: map[bool]int{}, Active: map[bool]int{}, Containers: map[string]int{}, Working: map[metrics.Work]int{},
	}
	wanted := map[string]bool{}
	for _, d := range n.mux.Pods() {
		if pod.IsMirror(d.Pod) {
			c.Mirrors++
			continue
		}
		wanted[string(d.Pod.UID)] = true
		static := pod.IsStatic(d.Pod)
		c.Desired[static]++
		// A pod for which there is no room yet has no worker.
		if n.uses(d.Pod.UID, d.Admitted && n.workers.Has(d.Pod.UID) && !n.hasEnded(d.Pod)) {
			c.Active[static]++
		}
		if n.workers.Has(d.Pod.UID) {
			c.Working[metrics.Work{Lifecycle: n.lifecycle(d.Pod.UID), Config: metrics.WorkDesired, Static: staticLabel(static)}]++
		}
	}
	for _, e := range n.workers.TerminatingPods() {
		if wanted[string(e.Pod.UID)] {
			continue
		}
		static := pod.IsStatic(e.Pod)
		if n.uses(e.Pod.UID, false) {
			c.Active[static]++
		}
		c.Working[metrics.Work{Lifecycle: n.lifecycle(e.Pod.UID), Config: metrics.WorkOrphan, Static: staticLabel(static)}]++
	}
	c.Working[metrics.Work{Lifecycle: metrics.WorkTerminating, Config: metrics.WorkRuntimeOnly, Static: metrics.WorkUnknown}] = len(n.workers.Orphans())
	observed, _ := n.cache.Pods()
	for i := range observed {
		countObserved(&c, &observed[i])
	}
	return c
}

// countObserved counts the containers and the ready sandbox of a pod in the runtime.
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

// uses reports whether a pod may use the node: it is terminating, or is to run.
func (n *Node) uses(uid types.UID, runs bool) bool {
	return !n.workers.KnownTerminated(uid) && (runs || n.workers.TerminationRequested(uid))
}

// hasEnded reports whether the pod's phase is terminal.
func (n *Node) hasEnded(p *v1.Pod) bool {
	st, _ := n.statuses.Get(p.UID)
	return pod.IsTerminal(p.Status.Phase) || pod.IsTerminal(st.Phase)
}

// lifecycle returns the stage of a pod that has a worker.
func (n *Node) lifecycle(uid types.UID) string {
	switch {
	case n.workers.KnownTerminated(uid):
		return metrics.WorkTerminated
	case n.workers.TerminationRequested(uid):
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

// eventShare returns the number of events to keep about the pods of each owner, if there are that
// many tenants beside the operator.
func eventShare(tenants int) int { return max(maxEvents/(1+tenants), minEvents) }

// The limits on the events that are kept for `get`: maxEvents in all, and minEvents for each owner.
// minEvents takes precedence.
const (
	maxEvents = 1000
	minEvents = 100
)
