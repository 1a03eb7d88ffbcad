package api

import v1 "k8s.io/api/core/v1"

// The conditions that Wardlet adds to the status of a pod, mostly for the answers of policies. They
// describe the current state.
const (
	// ConditionAdmitted is False while a pod without running containers is held.
	ConditionAdmitted v1.PodConditionType = "wardlet.dev/Admitted"
	// ConditionUpdateAdmitted is False while a newer version of a running pod is held or denied.
	ConditionUpdateAdmitted v1.PodConditionType = "wardlet.dev/UpdateAdmitted"
	// ConditionPolicyWarning is True for a pod that policy admits with a warning.
	ConditionPolicyWarning v1.PodConditionType = "wardlet.dev/PolicyWarning"
	// ConditionMutated is True for a pod that policies have changed.
	ConditionMutated v1.PodConditionType = "wardlet.dev/Mutated"
	// ConditionPolicyViolation is True for a running pod that policy would not admit if it were new.
	ConditionPolicyViolation v1.PodConditionType = "wardlet.dev/PolicyViolation"
	// ConditionEditIgnored is True for a terminated pod whose document was edited since in a field
	// that determines its containers.
	ConditionEditIgnored v1.PodConditionType = "wardlet.dev/EditIgnored"
)

// ReasonWaitingForPredecessor is the waiting reason of the containers of a pod that starts after
// another pod has terminated.
const ReasonWaitingForPredecessor = "WaitingForPredecessor"

// Condition returns the condition of st of this type, nil if there is none.
func Condition(st *v1.PodStatus, kind v1.PodConditionType) *v1.PodCondition {
	for i := range st.Conditions {
		if st.Conditions[i].Type == kind {
			return &st.Conditions[i]
		}
	}
	return nil
}
