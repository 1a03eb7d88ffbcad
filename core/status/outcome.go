package status

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Outcome returns the part of a pod's status that must survive the agent. For a pod that has ended,
// that is its phase and the terminations of its containers. For any other pod, it is the restart
// counts of the containers that were created. For both, it includes the probe results of running
// containers. It has no phase unless the pod has ended.
func Outcome(p *v1.Pod, st *v1.PodStatus) v1.PodStatus {
	var out v1.PodStatus
	ended := pod.IsTerminal(st.Phase)
	if ended {
		out.Phase, out.Reason, out.Message = st.Phase, st.Reason, st.Message
		out.StartTime = st.StartTime.DeepCopy()
	}
	out.InitContainerStatuses = containerOutcomes(st.InitContainerStatuses, ended)
	out.ContainerStatuses = containerOutcomes(st.ContainerStatuses, ended)
	out.EphemeralContainerStatuses = containerOutcomes(st.EphemeralContainerStatuses, ended)
	keepProbed(p, st, &out)
	normalize(&out)
	return out
}

func containerOutcomes(list []v1.ContainerStatus, ended bool) (out []v1.ContainerStatus) {
	for i := range list {
		c := &list[i]
		kept := v1.ContainerStatus{Name: c.Name, RestartCount: c.RestartCount}
		switch {
		case ended:
			kept.Image, kept.ImageID, kept.ContainerID = c.Image, c.ImageID, c.ContainerID
			kept.State.Terminated, kept.User = c.State.Terminated.DeepCopy(), c.User.DeepCopy()
		case RemovedForRestart(c):
			kept.RestartCount-- // the count of the removed instance
		case c.ContainerID == "":
			// A restart that has not happened yet may be counted already.
			continue
		}
		out = append(out, kept)
	}
	return out
}

// keepProbed adds the probe results of the running containers to out, which is an outcome of st.
func keepProbed(p *v1.Pod, st, out *v1.PodStatus) {
	for c := range pod.Containers(p) {
		own, kept := pod.ContainerStatus(st, c.Name), pod.ContainerStatus(out, c.Name)
		if c.StartupProbe == nil && c.ReadinessProbe == nil || own == nil || kept == nil || own.State.Running == nil {
			continue
		}
		kept.ContainerID, kept.Ready, kept.Started = own.ContainerID, own.Ready, own.Started
	}
}

// Resume returns the status with which the agent continues a pod after a restart: the status from
// the pod's source with kept, which is an Outcome, applied to it.
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
	for c, kind := range pod.Containers(p) {
		if had := pod.ContainerStatus(kept, c.Name); had != nil {
			resumeContainer(p, c, kind, &st, had)
		}
	}
	return st
}

// resumeContainer applies the kept outcome of one container to st.
func resumeContainer(p *v1.Pod, c *v1.Container, kind pod.ContainerKind, st *v1.PodStatus, had *v1.ContainerStatus) {
	is := pod.ContainerStatus(st, c.Name)
	if is == nil {
		list := pod.StatusList(st, kind)
		*list = append(*list, noInstanceStatus(&Input{Pod: p}, c, kind, nil))
		is = &(*list)[len(*list)-1]
	}
	is.RestartCount = max(is.RestartCount, had.RestartCount)
	if had.State.Terminated == nil {
		if had.ContainerID != "" {
			is.ContainerID, is.Ready, is.Started = had.ContainerID, had.Ready, had.Started
		}
		return
	}
	is.State = *had.State.DeepCopy()
	is.Image, is.ImageID, is.ContainerID, is.User = had.Image, had.ImageID, had.ContainerID, had.User.DeepCopy()
	is.Ready, is.Started = kind == pod.InitContainer && had.State.Terminated.ExitCode == 0, new(false)
}
