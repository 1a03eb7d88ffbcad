package status

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Waiting reasons of a container whose start has not been tried yet.
const (
	reasonContainerCreating = "ContainerCreating"
	reasonPodInitializing   = "PodInitializing"
)

// If the runtime no longer knows how a container exited, the container is reported as killed.
const (
	reasonStatusUnknown   = "ContainerStatusUnknown"
	exitCodeStatusUnknown = 137
)

// messageInitGone is a kubelet's message for an init container that the runtime no longer has.
const messageInitGone = "Unable to get init container status from container runtime and pod has been initialized, treat it as exit normally"

// setContainers sets the statuses of all containers: those of init containers in the order of the
// spec, the others sorted by name.
func setContainers(in *Input, st *v1.PodStatus) {
	st.ContainerStatuses = make([]v1.ContainerStatus, 0, len(in.Pod.Spec.Containers))
	for c, kind := range pod.Containers(in.Pod) {
		list := pod.StatusList(st, kind)
		*list = append(*list, containerStatus(in, c, kind, pod.ContainerStatus(&in.Previous, c.Name)))
	}
	slices.SortFunc(st.ContainerStatuses, byName)
	slices.SortFunc(st.EphemeralContainerStatuses, byName)
}

func byName(a, b v1.ContainerStatus) int { return strings.Compare(a.Name, b.Name) }

// containerStatus returns the status of one container. old is the status that was reported last,
// nil for none.
func containerStatus(in *Input, c *v1.Container, kind pod.ContainerKind, old *v1.ContainerStatus) v1.ContainerStatus {
	var newest, before *ObservedContainer
	for i := range in.Observed.Containers {
		o := &in.Observed.Containers[i]
		if o.Name != c.Name {
			continue
		}
		if newest != nil {
			before = o
			break
		}
		newest = o
	}

	var st v1.ContainerStatus
	if newest == nil {
		st = noInstanceStatus(in, c, kind, old)
	} else {
		st = instanceStatus(in, c, newest, old)
		switch {
		case before != nil && before.State == StateExited:
			st.LastTerminationState = terminated(in, before)
		case before == nil:
			st.LastTerminationState = lastEnd(&st, old)
		}
	}
	st.VolumeMounts = volumeMounts(c, in.RecursiveReadOnly)

	reason, failed := in.Reasons[c.Name]
	if failed && !in.ending() && ShouldStart(in.Pod, c, newest) && !hasInitializedWell(kind, newest) {
		if st.State.Terminated != nil {
			st.LastTerminationState = st.State
		}
		st.State = v1.ContainerState{
			Waiting: &v1.ContainerStateWaiting{Reason: reason.Reason, Message: reason.Message},
		}
	}

	started := st.State.Running != nil && in.hasStarted(c, &st, old)
	st.Started = &started
	switch kind {
	case pod.InitContainer:
		st.Ready = st.State.Terminated != nil && st.State.Terminated.ExitCode == 0
	case pod.EphemeralContainer:
		st.Started, st.Ready = nil, false
	default:
		st.Ready = started && in.isReady(c, &st, old)
	}
	return st
}

// hasInitializedWell reports whether newest is an instance of an init container or sidecar that has
// exited with code 0, as in a kubelet.
func hasInitializedWell(kind pod.ContainerKind, newest *ObservedContainer) bool {
	return (kind == pod.InitContainer || kind == pod.Sidecar) &&
		newest != nil && newest.State == StateExited && newest.ExitCode == 0
}

// lastEnd returns the termination of the previous instance from the last reported status, because
// the runtime no longer shows that instance.
func lastEnd(st, old *v1.ContainerStatus) v1.ContainerState {
	if old == nil {
		return v1.ContainerState{}
	}
	if old.ContainerID != st.ContainerID && old.State.Terminated != nil {
		return *old.State.DeepCopy()
	}
	last := old.LastTerminationState
	if last.Terminated == nil || last.Terminated.ContainerID == st.ContainerID {
		return v1.ContainerState{} // it was reported as waiting for its restart
	}
	return *last.DeepCopy()
}

// volumeMounts returns the statuses of the mounts of a container. recursive reports whether the
// runtime can make them read-only recursively.
func volumeMounts(c *v1.Container, recursive bool) (all []v1.VolumeMountStatus) {
	for i := range c.VolumeMounts {
		m := &c.VolumeMounts[i]
		st := v1.VolumeMountStatus{Name: m.Name, MountPath: m.MountPath, ReadOnly: m.ReadOnly}
		if m.ReadOnly {
			st.RecursiveReadOnly = new(v1.RecursiveReadOnlyDisabled)
			if is, err := pod.RecursiveReadOnly(m, recursive); err == nil && is {
				st.RecursiveReadOnly = new(v1.RecursiveReadOnlyEnabled)
			}
		}
		all = append(all, st)
	}
	return all
}

// instanceStatus returns the status of a container from its newest instance.
func instanceStatus(in *Input, c *v1.Container, o *ObservedContainer, old *v1.ContainerStatus) v1.ContainerStatus {
	st := v1.ContainerStatus{
		Name:         c.Name,
		RestartCount: int32(o.Attempt),
		Image:        o.Image,
		ImageID:      o.ImageRef,
		ContainerID:  containerID(in, o),
	}
	switch {
	case o.User != nil:
		st.User = &v1.ContainerUser{Linux: o.User.DeepCopy()}
	case old != nil && old.ContainerID == st.ContainerID:
		st.User = old.User.DeepCopy() // containerd may not show the user once the container has exited
	}
	if st.Image == "" {
		st.Image = c.Image
	}
	if c.Lifecycle != nil && c.Lifecycle.StopSignal != nil && o.StopSignal != "" {
		st.StopSignal = &o.StopSignal
	}
	switch {
	case o.State == StateRunning:
		st.State.Running = &v1.ContainerStateRunning{StartedAt: metav1.NewTime(o.StartedAt)}
	case o.State == StateExited:
		st.State = terminated(in, o)
	case o.State == StateUnknown && old != nil && old.State.Running != nil:
		st.State = unknownTermination()
		st.RestartCount++
	case o.State == StateUnknown && old != nil && old.State.Terminated != nil && old.ContainerID == st.ContainerID:
		return *old.DeepCopy()
	default:
		st.State.Waiting = &v1.ContainerStateWaiting{}
	}
	return st
}

// noInstanceStatus returns the status of a container without an instance in the runtime: it was not
// created yet, or is gone. A termination reported before is kept. An init container that is gone
// from an initialised pod counts as succeeded.
func noInstanceStatus(in *Input, c *v1.Container, kind pod.ContainerKind, old *v1.ContainerStatus) v1.ContainerStatus {
	removing := in.stage.removing && kind != pod.EphemeralContainer
	if removing && old != nil && (old.State.Waiting == nil || old.ContainerID != "") {
		return removedStatus(c, old)
	}
	if old != nil && old.State.Terminated != nil {
		return *old.DeepCopy()
	}
	if kind == pod.InitContainer && in.initialized() && !removing {
		st := v1.ContainerStatus{Name: c.Name, Image: c.Image, State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
			Reason: "Completed", Message: messageInitGone,
		}}}
		if old != nil {
			st.RestartCount = old.RestartCount
		}
		return st
	}
	waiting := &v1.ContainerStateWaiting{Reason: reasonContainerCreating}
	if len(in.Pod.Spec.InitContainers) > 0 {
		waiting.Reason = reasonPodInitializing
	}
	st := v1.ContainerStatus{Name: c.Name, Image: c.Image, State: v1.ContainerState{Waiting: waiting}}
	if old == nil {
		return st
	}
	st.RestartCount = old.RestartCount
	st.LastTerminationState = *old.LastTerminationState.DeepCopy()
	if old.State.Running != nil {
		st.LastTerminationState = unknownTermination()
		if !in.ending() {
			st.RestartCount++
		}
	}
	return st
}

// terminated returns the state of an instance that has exited.
func terminated(in *Input, o *ObservedContainer) v1.ContainerState {
	return v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		ExitCode:    o.ExitCode,
		Reason:      o.Reason,
		Message:     o.Message,
		StartedAt:   metav1.NewTime(o.StartedAt),
		FinishedAt:  metav1.NewTime(o.FinishedAt),
		ContainerID: containerID(in, o),
	}}
}

// unknownTermination returns the state of an instance whose exit was not observed.
func unknownTermination() v1.ContainerState {
	return v1.ContainerState{Terminated: &v1.ContainerStateTerminated{
		ExitCode: exitCodeStatusUnknown,
		Reason:   reasonStatusUnknown,
		Message:  "the runtime no longer knows how this container ended",
	}}
}

// containerID returns "<runtime>://<id>".
func containerID(in *Input, o *ObservedContainer) string {
	return in.RuntimeName + "://" + o.ID
}
