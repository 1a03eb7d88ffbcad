package cluster

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// merge returns the status for the API server from its current status and the agent's. It keeps
// conditions that others own. It does not let a pod become Succeeded or Failed while one of its
// containers may run, because its controller would start a replacement.
func merge(there, own *v1.PodStatus, mayRun bool) v1.PodStatus {
	st := *own.DeepCopy()
	st.Conditions = mergeConditions(there.Conditions, own.Conditions)
	if mayRun && pod.IsTerminal(st.Phase) && !pod.IsTerminal(there.Phase) {
		st.Phase, st.Reason, st.Message = there.Phase, there.Reason, there.Message
	}
	if pod.IsTerminal(st.Phase) && !pod.IsTerminal(there.Phase) {
		st.Conditions = withDisruption(st.Conditions, own.Conditions)
	}
	// Fields that only the API server and controllers write.
	st.NominatedNodeName, st.ResourceClaimStatuses = there.NominatedNodeName, there.ResourceClaimStatuses
	st.ExtendedResourceClaimStatus = there.ExtendedResourceClaimStatus
	st.NodeAllocatableResourceClaimStatuses = there.NodeAllocatableResourceClaimStatuses
	if st.QOSClass == "" {
		st.QOSClass = there.QOSClass
	}
	return st
}

// mergeConditions keeps the order of the server's conditions, because a different order alone is no
// reason to send.
func mergeConditions(there, own []v1.PodCondition) []v1.PodCondition {
	var all []v1.PodCondition
	known := map[v1.PodConditionType]bool{}
	for _, c := range there {
		if status.Owned(c.Type) {
			is := find(own, c.Type)
			if is == nil {
				continue
			}
			c = *is
		}
		known[c.Type] = true
		all = append(all, c)
	}
	for _, c := range own {
		if status.Owned(c.Type) && !known[c.Type] {
			all = append(all, c)
		}
	}
	return all
}

// withDisruption adds the condition that a disruption terminates the pod, by which controllers
// decide. It is sent together with the terminal phase and not before.
func withDisruption(conditions, own []v1.PodCondition) []v1.PodCondition {
	is := find(own, v1.DisruptionTarget)
	if is == nil {
		return conditions
	}
	if there := find(conditions, v1.DisruptionTarget); there != nil {
		*there = *is
		return conditions
	}
	return append(conditions, *is)
}

func find(conditions []v1.PodCondition, kind v1.PodConditionType) *v1.PodCondition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}
