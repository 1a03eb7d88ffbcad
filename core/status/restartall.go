package status

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// The reasons and messages while all containers of a pod restart, in a kubelet's words.
const (
	reasonRestartStarted  = "RestartAllContainersStarted"
	messageRestartStarted = "container exited with restart policy rule"
	reasonRestartingAll   = "RestartingAllContainers"
	messageRestartingAll  = "The container is removed because RestartAllContainers in place"
)

// RestartAllTriggers returns the instances that cause a restart of all containers of p, in the
// order of the spec. Each is the newest of its container, was made in the newest sandbox, and has
// exited with a code that a rule RestartAllContainers matches. They stay in the runtime until all
// other instances are removed, so an interrupted restart continues. A pod that is being deleted has
// none.
func RestartAllTriggers(p *v1.Pod, o *ObservedPod) (triggers []*ObservedContainer) {
	if p.DeletionTimestamp != nil || len(o.Sandboxes) == 0 {
		return nil
	}
	for c, kind := range pod.Containers(p) {
		if kind == pod.EphemeralContainer || len(c.RestartPolicyRules) == 0 {
			continue
		}
		newest := o.Newest(c.Name)
		if newest == nil || newest.State != StateExited || newest.SandboxID != o.Sandboxes[0].ID {
			continue
		}
		if rule := matchingRule(c, newest.ExitCode); rule != nil && rule.Action == v1.ContainerRestartRuleActionRestartAllContainers {
			triggers = append(triggers, newest)
		}
	}
	return triggers
}

// couldRestartAll reports whether a container of p has a rule RestartAllContainers.
func couldRestartAll(p *v1.Pod) bool {
	for c, kind := range pod.Containers(p) {
		for i := range c.RestartPolicyRules {
			if kind != pod.EphemeralContainer && c.RestartPolicyRules[i].Action == v1.ContainerRestartRuleActionRestartAllContainers {
				return true
			}
		}
	}
	return false
}

// RemovedForRestart reports whether the instance of a container was removed because all containers
// of its pod restart, and the next instance has not been created. RestartCount is then that of the
// next instance.
func RemovedForRestart(st *v1.ContainerStatus) bool {
	last := st.LastTerminationState.Terminated
	return st.ContainerID == "" && st.State.Waiting != nil && last != nil && last.Reason == reasonRestartingAll
}

// restartStage is the stage of the restart of all containers of a pod.
type restartStage struct {
	// triggered is true while there are instances that cause a restart of all containers.
	triggered bool
	// removing is true if what is missing in the runtime was removed for the restart. It stays true
	// for one more status after triggered has become false.
	removing bool
}

func (in *Input) restartStage() (s restartStage) {
	if in.ending() || !couldRestartAll(in.Pod) {
		return s
	}
	s.triggered = len(RestartAllTriggers(in.Pod, &in.Observed)) > 0
	before := findCondition(in.Previous.Conditions, v1.AllContainersRestarting)
	s.removing = s.triggered || before != nil && before.Status == v1.ConditionTrue
	return s
}

// removedStatus returns the status of a container whose instance was removed for the restart of all
// containers. old is the last reported status of that instance.
func removedStatus(c *v1.Container, old *v1.ContainerStatus) v1.ContainerStatus {
	return v1.ContainerStatus{
		Name: c.Name, Image: c.Image, RestartCount: old.RestartCount + 1,
		State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reasonRestartingAll, Message: messageRestartingAll}},
		LastTerminationState: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
			ExitCode: exitCodeStatusUnknown, Reason: reasonRestartingAll, Message: messageRestartingAll,
		}},
	}
}

// restartingAll returns the condition AllContainersRestarting.
func (in *Input) restartingAll(phase v1.PodPhase) (v1.ConditionStatus, conditionReason) {
	switch {
	case phase == v1.PodSucceeded:
		return v1.ConditionFalse, conditionReason{reason: reasonPodCompleted}
	case phase == v1.PodFailed:
		return v1.ConditionFalse, conditionReason{reason: reasonPodFailed}
	case in.stage.triggered:
		return v1.ConditionTrue, conditionReason{reasonRestartStarted, messageRestartStarted}
	}
	return v1.ConditionFalse, conditionReason{}
}
