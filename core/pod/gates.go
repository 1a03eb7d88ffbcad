package pod

import v1 "k8s.io/api/core/v1"

// GatesChanged reports whether a condition that a readiness gate of the pod waits for is another in next than in old.
func GatesChanged(old, next *v1.Pod) bool {
	for _, gate := range next.Spec.ReadinessGates {
		if statusOf(old, gate.ConditionType) != statusOf(next, gate.ConditionType) {
			return true
		}
	}
	return false
}

func statusOf(p *v1.Pod, kind v1.PodConditionType) v1.ConditionStatus {
	if p != nil {
		for i := range p.Status.Conditions {
			if p.Status.Conditions[i].Type == kind {
				return p.Status.Conditions[i].Status
			}
		}
	}
	return ""
}
