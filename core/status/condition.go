package status

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Reasons of the agent's own conditions.
const (
	reasonUnknownContainerStatuses = "UnknownContainerStatuses"
	reasonContainersNotReady       = "ContainersNotReady"
	reasonContainersNotInitialized = "ContainersNotInitialized"
	reasonReadinessGatesNotReady   = "ReadinessGatesNotReady"
	reasonPodCompleted             = "PodCompleted"
	reasonPodFailed                = "PodFailed"
)

// conditionReason is the reason why a condition is not True; the zero value means that it is True.
type conditionReason struct{ reason, message string }

// conditions returns the conditions of the pod. It computes the agent's own conditions from what st
// holds already, and keeps the conditions of others from the API server's copy, except marks. Of
// the conditions reported earlier it keeps only DisruptionTarget, which another part of the agent
// sets once. A condition of others that was removed in the API server is not kept.
func conditions(in *Input, st *v1.PodStatus, before *runtimeTimes) []v1.PodCondition {
	var out []v1.PodCondition
	for _, c := range in.Pod.Status.Conditions {
		if !Owned(c.Type) && findCondition(out, c.Type) == nil {
			out = append(out, c)
		}
	}
	if was := findCondition(in.Previous.Conditions, v1.DisruptionTarget); was != nil {
		if is := findCondition(out, was.Type); is != nil {
			*is = *was
		} else {
			out = append(out, *was)
		}
	}

	add := func(kind v1.PodConditionType, status v1.ConditionStatus, v conditionReason) {
		c := v1.PodCondition{
			Type:               kind,
			Status:             status,
			Reason:             v.reason,
			Message:            v.message,
			ObservedGeneration: in.Pod.Generation,
			LastTransitionTime: metav1.NewTime(in.Now),
		}
		switch old := api.Condition(&in.Previous, kind); {
		case old == nil:
			c.LastTransitionTime.Time = before.transitionTime(kind, status, in.Now)
		case old.Status == status:
			c.LastTransitionTime = old.LastTransitionTime
		}
		out = append(out, c)
	}
	add(v1.PodReadyToStartContainers, conditionStatus(!NeedsSandbox(in.Pod, &in.Observed)), conditionReason{})
	for _, c := range ofContainers(in.Pod, st, out, in.Previous.Conditions) {
		add(c.Type, c.Status, conditionReason{c.Reason, c.Message})
	}
	add(v1.PodScheduled, v1.ConditionTrue, conditionReason{})
	if couldRestartAll(in.Pod) {
		status, why := in.restartingAll(st.Phase)
		add(v1.AllContainersRestarting, status, why)
	}
	return out
}

// ofContainers returns the conditions that follow from the statuses of containers, the conditions
// of others, and the previous conditions.
func ofContainers(p *v1.Pod, st *v1.PodStatus, foreign, previous []v1.PodCondition) []v1.PodCondition {
	containers := containersReady(p, st)
	ready := containers
	if ready == (conditionReason{}) {
		ready = gatesReady(p, foreign)
	}
	init, initializing := initialized(p, st, previous)
	return []v1.PodCondition{
		{Type: v1.PodInitialized, Status: conditionStatus(init), Reason: initializing.reason, Message: initializing.message},
		{Type: v1.PodReady, Status: conditionStatus(ready == conditionReason{}), Reason: ready.reason, Message: ready.message},
		{Type: v1.ContainersReady, Status: conditionStatus(containers == conditionReason{}), Reason: containers.reason, Message: containers.message},
	}
}

// containersReady returns an empty reason if every container is ready, and otherwise the reason why
// not.
func containersReady(p *v1.Pod, st *v1.PodStatus) conditionReason {
	if st.ContainerStatuses == nil {
		return conditionReason{reason: reasonUnknownContainerStatuses}
	}
	var unknown, unready []string
	for c, kind := range pod.Containers(p) {
		if kind != pod.RegularContainer && kind != pod.Sidecar {
			continue
		}
		switch own := pod.ContainerStatus(st, c.Name); {
		case own == nil:
			unknown = append(unknown, c.Name)
		case !own.Ready:
			unready = append(unready, c.Name)
		}
	}
	if st.Phase == v1.PodFailed {
		return conditionReason{reason: reasonPodFailed}
	}
	if st.Phase == v1.PodSucceeded && unknown == nil {
		return conditionReason{reason: reasonPodCompleted}
	}
	if message := notYet(unknown, unready, "unready"); message != "" {
		return conditionReason{reasonContainersNotReady, message}
	}
	return conditionReason{}
}

// notYet returns a message about the containers with an unknown status and those in short, which
// are not ready or complete yet; empty for none.
func notYet(unknown, short []string, word string) string {
	var parts []string
	if unknown != nil {
		parts = append(parts, fmt.Sprintf("containers with unknown status: %v", unknown))
	}
	if short != nil {
		parts = append(parts, fmt.Sprintf("containers with %s status: %v", word, short))
	}
	return strings.Join(parts, ", ")
}

// gatesReady returns an empty reason if every readiness gate is open. Otherwise it returns a
// message about each closed gate, in a kubelet's words.
func gatesReady(p *v1.Pod, foreign []v1.PodCondition) conditionReason {
	var closed []string
	for _, gate := range p.Spec.ReadinessGates {
		switch c := findCondition(foreign, gate.ConditionType); {
		case c == nil:
			closed = append(closed, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType))
		case c.Status != v1.ConditionTrue:
			closed = append(closed, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s", gate.ConditionType, c.Status))
		}
	}
	if closed == nil {
		return conditionReason{}
	}
	return conditionReason{reasonReadinessGatesNotReady, strings.Join(closed, ", ")}
}

// initialized reports whether the init containers of a pod have completed, with the reason. A pod
// stays initialised while its sidecars restart, if a regular container is running or has run. A pod
// whose containers may all restart stays initialised once it is.
func initialized(p *v1.Pod, st *v1.PodStatus, previous []v1.PodCondition) (bool, conditionReason) {
	var unknown, incomplete []string
	for c, kind := range pod.Containers(p) {
		if kind != pod.InitContainer && kind != pod.Sidecar {
			continue
		}
		switch own := pod.ContainerStatus(st, c.Name); {
		case own == nil:
			unknown = append(unknown, c.Name)
		case !isInitialized(own, kind == pod.Sidecar):
			incomplete = append(incomplete, c.Name)
		}
	}
	if st.Phase == v1.PodSucceeded && unknown == nil {
		return true, conditionReason{reason: reasonPodCompleted}
	}
	for i := range st.ContainerStatuses {
		if s := &st.ContainerStatuses[i].State; s.Running != nil || s.Terminated != nil {
			return true, conditionReason{}
		}
	}
	if was := findCondition(previous, v1.PodInitialized); was != nil && was.Status == v1.ConditionTrue && couldRestartAll(p) {
		return true, conditionReason{}
	}
	if message := notYet(unknown, incomplete, "incomplete"); message != "" {
		return false, conditionReason{reasonContainersNotInitialized, message}
	}
	return true, conditionReason{}
}

// isInitialized reports whether the next init container may start after c: c has succeeded, or is a
// sidecar that has started.
func isInitialized(c *v1.ContainerStatus, sidecar bool) bool {
	if sidecar {
		return c.Started != nil && *c.Started
	}
	return c.Ready
}

// Owned reports whether only the agent sets conditions of this type: a kubelet's conditions and the
// agent's own marks.
func Owned(kind v1.PodConditionType) bool {
	switch kind {
	case v1.PodReadyToStartContainers, v1.PodInitialized, v1.PodReady, v1.ContainersReady, v1.PodScheduled, v1.AllContainersRestarting:
		return true
	default:
		return isMark(kind)
	}
}

func findCondition(conditions []v1.PodCondition, kind v1.PodConditionType) *v1.PodCondition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// conditionStatus returns the condition status for b.
func conditionStatus(b bool) v1.ConditionStatus {
	if b {
		return v1.ConditionTrue
	}
	return v1.ConditionFalse
}

// SetDisruptionTarget adds the condition that the agent ends the pod before its own end. Only a
// condition that was not true gets a new transition time.
func SetDisruptionTarget(st *v1.PodStatus, message string) {
	target := v1.PodCondition{
		Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonTerminationByKubelet, Message: message,
		ObservedGeneration: st.ObservedGeneration, LastTransitionTime: metav1.Now(),
	}
	was := findCondition(st.Conditions, target.Type)
	if was == nil {
		st.Conditions = append(st.Conditions, target)
		return
	}
	if was.Status == target.Status {
		target.LastTransitionTime = was.LastTransitionTime
	}
	*was = target
}
