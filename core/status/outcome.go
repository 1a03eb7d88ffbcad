package status

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Outcome is what of a status has to outlive the agent: the end of a pod that
// has ended, and of every other the restart counts of the containers that were
// made. It has no phase unless the pod has ended.
func Outcome(st *v1.PodStatus) v1.PodStatus {
	var out v1.PodStatus
	ended := pod.IsTerminal(st.Phase)
	if ended {
		out.Phase, out.Reason, out.Message = st.Phase, st.Reason, st.Message
		out.StartTime = st.StartTime.DeepCopy()
	}
	for i := range st.ContainerStatuses {
		c := &st.ContainerStatuses[i]
		kept := v1.ContainerStatus{Name: c.Name, RestartCount: c.RestartCount}
		switch {
		case ended:
			kept.Image, kept.ImageID, kept.ContainerID = c.Image, c.ImageID, c.ContainerID
			kept.State.Terminated, kept.User = c.State.Terminated.DeepCopy(), c.User.DeepCopy()
		case c.ContainerID == "":
			// A restart that has not happened yet may be counted already.
			continue
		}
		out.ContainerStatuses = append(out.ContainerStatuses, kept)
	}
	normalize(&out)
	return out
}

// Resume is the status with which the agent goes on with a pod after a
// restart: what the pod's source says, and over that what was kept, which is
// an Outcome.
func Resume(p *v1.Pod, kept *v1.PodStatus) v1.PodStatus {
	st := *p.Status.DeepCopy()
	if pod.IsTerminal(kept.Phase) && !pod.IsTerminal(st.Phase) {
		st.Phase, st.Reason, st.Message = kept.Phase, kept.Reason, kept.Message
	}
	if st.Phase == "" {
		st.Phase = v1.PodPending
	}
	if st.QOSClass == "" {
		st.QOSClass = pod.QOS(p)
	}
	if st.StartTime.IsZero() {
		st.StartTime = kept.StartTime.DeepCopy()
	}
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		if had := findContainer(kept.ContainerStatuses, c.Name); had != nil {
			resumeContainer(p, c, &st, had)
		}
	}
	return st
}

// resumeContainer lays what was kept of one container over st.
func resumeContainer(p *v1.Pod, c *v1.Container, st *v1.PodStatus, had *v1.ContainerStatus) {
	is := findContainer(st.ContainerStatuses, c.Name)
	if is == nil {
		st.ContainerStatuses = append(st.ContainerStatuses, noInstanceStatus(&Input{Pod: p}, c, nil))
		is = &st.ContainerStatuses[len(st.ContainerStatuses)-1]
	}
	is.RestartCount = max(is.RestartCount, had.RestartCount)
	if had.State.Terminated == nil {
		return
	}
	is.State = *had.State.DeepCopy()
	is.Image, is.ImageID, is.ContainerID, is.User = had.Image, had.ImageID, had.ContainerID, had.User.DeepCopy()
	is.Ready, is.Started = false, new(false)
}
