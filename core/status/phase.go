package status

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// containerCounts counts the containers of a pod by their statuses. Each kind of container is
// counted by its own rules, and the phase follows from the counts.
type containerCounts struct {
	pod *v1.Pod
	// restarting is true if all containers restart, whatever their policies.
	restarting bool
	// initializing is the number of init containers that have not completed. starting is the number
	// of sidecars that have not started. failed is the number of init containers that have failed
	// for good.
	initializing, starting, failed int
	// The fields below count regular containers and sidecars.
	unknown, waiting, running int
	// stopped are the containers that have run and no longer run. succeeded and restartable are
	// among them.
	stopped, succeeded, restartable int
}

// phaseOf returns the phase of a pod with the container statuses in st. A pod that has been
// initialized stays initialized while its sidecars restart. If terminal is true, the containers
// were stopped for good, so restart policies no longer apply. But that alone never makes the phase
// of a static pod terminal. While all containers of the pod restart, no exit of a container makes
// the phase terminal.
func phaseOf(p *v1.Pod, st *v1.PodStatus, initialized, terminal, restarting bool) v1.PodPhase {
	t := containerCounts{pod: p, restarting: restarting}
	for c, kind := range pod.Containers(p) {
		own := pod.ContainerStatus(st, c.Name)
		switch kind {
		case pod.InitContainer:
			t.addInit(c, own)
		case pod.Sidecar:
			t.addSidecar(own)
		case pod.RegularContainer:
			t.addRegular(c, own)
		}
	}
	switch {
	case t.failed > 0:
		return v1.PodFailed
	case t.initializing > 0 || t.starting > 0 && !initialized:
		return v1.PodPending
	case t.waiting > 0 || t.unknown > 0:
		return v1.PodPending
	case t.running > 0:
		return v1.PodRunning
	case t.stopped == 0:
		return v1.PodPending
	case t.restartable > 0 && (!terminal || pod.IsStatic(p)):
		return v1.PodRunning
	case t.succeeded == t.stopped:
		return v1.PodSucceeded
	default:
		return v1.PodFailed
	}
}

// startsAgain reports whether a container that has exited starts again.
func (t *containerCounts) startsAgain(c *v1.Container, ended *v1.ContainerStateTerminated) bool {
	return t.restarting || ended.Reason == reasonRestartingAll || Restartable(t.pod, c, ended.ExitCode)
}

// addInit counts an init container that is not a sidecar.
func (t *containerCounts) addInit(c *v1.Container, st *v1.ContainerStatus) {
	var ended *v1.ContainerStateTerminated
	switch {
	case st == nil:
	case st.State.Terminated != nil:
		ended = st.State.Terminated
	case st.State.Waiting != nil:
		ended = st.LastTerminationState.Terminated
	}
	switch {
	case ended == nil:
		t.initializing++
	case ended.ExitCode != 0 && !t.startsAgain(c, ended):
		t.failed++
	}
}

// addSidecar counts a sidecar. A sidecar that has exited is not counted, because it starts again.
func (t *containerCounts) addSidecar(st *v1.ContainerStatus) {
	switch {
	case st == nil:
		t.unknown++
	case st.State.Running != nil:
		t.running++
		if st.Started == nil || !*st.Started {
			t.starting++
		}
	case st.State.Terminated != nil, st.State.Waiting != nil && st.LastTerminationState.Terminated != nil:
	case st.State.Waiting != nil:
		t.waiting++
		t.starting++
	default:
		t.unknown++
		t.starting++
	}
}

// addRegular counts a regular container.
func (t *containerCounts) addRegular(c *v1.Container, st *v1.ContainerStatus) {
	switch {
	case st == nil:
		t.unknown++
	case st.State.Running != nil:
		t.running++
	case st.State.Terminated != nil:
		t.stopped++
		if st.State.Terminated.ExitCode == 0 {
			t.succeeded++
		}
		if t.startsAgain(c, st.State.Terminated) {
			t.restartable++
		}
	case st.LastTerminationState.Terminated != nil:
		t.stopped++
		if t.startsAgain(c, st.LastTerminationState.Terminated) || isNewer(st) {
			t.restartable++
		}
	case st.State.Waiting != nil:
		t.waiting++
	default:
		t.unknown++
	}
}

// isNewer reports whether a waiting container is a newer instance than the one that exited last. It
// was made because a probe failed or the pod was edited, so the container starts again whatever its
// exit code is.
func isNewer(st *v1.ContainerStatus) bool {
	return st.State.Waiting != nil && st.ContainerID != "" && st.ContainerID != st.LastTerminationState.Terminated.ContainerID
}
