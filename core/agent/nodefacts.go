package agent

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
)

// nodeFacts is what policies may know of the node: the pods that were admitted,
// mirror pods aside, and have not ended. It asks the mux, which is made later.
func (a *Agent) nodeFacts() *policy.Node {
	allocatable := map[string]string{}
	for name, q := range a.machine.Status.Allocatable {
		allocatable[string(name)] = q.String()
	}
	return &policy.Node{
		Labels:      a.machine.Labels,
		Allocatable: allocatable,
		Pods:        a.admittedPods,
		Wanted:      func(uid types.UID, instance string) bool { return a.mux.WantedAs(uid, instance) },
		Ended:       func(p *v1.Pod) bool { return pod.IsTerminal(p.Status.Phase) || a.outcomes.Ended(p) },
	}
}

// admittedPods are the pods of nodeFacts. Among them are those that policies let
// through and for which the node has no room yet: they start once there is some,
// without being judged again.
func (a *Agent) admittedPods() []policy.NodePod {
	var pods []policy.NodePod
	for _, d := range a.mux.Pods() {
		if !d.Admitted || pod.IsMirror(d.Pod) || pod.IsTerminal(d.Pod.Status.Phase) {
			continue
		}
		if st, ok := a.statuses.Get(d.Pod.UID); ok && pod.IsTerminal(st.Phase) {
			continue
		}
		pods = append(pods, policy.NodePod{Pod: d.Pod, Source: d.Origin.Source})
	}
	return pods
}
