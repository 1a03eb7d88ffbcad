package admission

import (
	"fmt"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1"

	"github.com/wardlet/wardlet/core/pod"
)

// ReasonPressure is the reason for refusing a pod because the node runs out of a resource. It is
// that of an evicted pod, as in a kubelet.
const ReasonPressure = "Evicted"

// Pressure refuses pods while the node runs out of a resource, by a kubelet's rules. It admits
// critical pods. If memory is the only such resource, it also admits pods that are not best-effort,
// and best-effort pods that tolerate the taint of memory pressure.
type Pressure struct {
	// Conditions returns the conditions that say so, such as MemoryPressure. It must not block.
	Conditions func() []v1.NodeConditionType
	// Critical decides which pods are critical.
	Critical pod.Criticality
}

// Admit implements Handler.
func (h Pressure) Admit(a *Attributes) Result {
	now := h.Conditions()
	if len(now) == 0 || h.Critical.Critical(a.Pod) {
		return Result{Admitted: true}
	}
	if len(now) == 1 && now[0] == v1.NodeMemoryPressure && (pod.QOS(a.Pod) != v1.PodQOSBestEffort || toleratesMemoryPressure(a.Pod)) {
		return Result{Admitted: true}
	}
	return Result{Reason: ReasonPressure, Message: fmt.Sprintf("The node had condition: %v. ", now)}
}

func toleratesMemoryPressure(p *v1.Pod) bool {
	taint := v1.Taint{Key: v1.TaintNodeMemoryPressure, Effect: v1.TaintEffectNoSchedule}
	_, untolerated := corev1.FindMatchingUntoleratedTaint(logr.Discard(), []v1.Taint{taint}, p.Spec.Tolerations, nil, false)
	return !untolerated
}
