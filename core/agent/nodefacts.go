package agent

import (
	goruntime "runtime"
	"strconv"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
)

// maxPods is how many pods a node may have, as for a kubelet by default.
const maxPods = 110

// nodeFacts is what policies may know of the node: the pods that were admitted,
// mirror pods aside, and have not ended. It asks the mux, which is made later.
func (a *Agent) nodeFacts(memory int64) *policy.Node {
	return &policy.Node{
		Labels: map[string]string{
			v1.LabelHostname: a.node, v1.LabelOSStable: goruntime.GOOS, v1.LabelArchStable: goruntime.GOARCH,
		},
		Allocatable: map[string]string{
			string(v1.ResourceCPU):    strconv.Itoa(goruntime.NumCPU()),
			string(v1.ResourceMemory): resource.NewQuantity(memory, resource.BinarySI).String(),
			string(v1.ResourcePods):   strconv.Itoa(maxPods),
		},
		Pods:   a.admittedPods,
		Wanted: func(uid types.UID, instance string) bool { return a.mux.WantedAs(uid, instance) },
		Ended:  func(p *v1.Pod) bool { return pod.IsTerminal(p.Status.Phase) || a.outcomes.Ended(p) },
	}
}

// admittedPods are the pods of nodeFacts.
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
