package status

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// containerCounts counts the containers of a pod by their statuses. Each kind of container is
// added by its own rules; the phase follows from the sums.
type containerCounts struct {
	unknown, waiting, running int
	// stopped have run and run no more; succeeded and restartable are parts
	// of them.
	stopped, succeeded, restartable int
}

// phaseOf is the phase of a pod with these container statuses. A pod that is
// terminal has been stopped for good: restart policies no longer count. Being
// stopped alone never makes a static pod terminal.
func phaseOf(p *v1.Pod, statuses []v1.ContainerStatus, terminal bool) v1.PodPhase {
	var t containerCounts
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		t.addRegular(p, c, findContainer(statuses, c.Name))
	}
	switch {
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

// addRegular counts a container that is neither init container nor sidecar.
func (t *containerCounts) addRegular(p *v1.Pod, c *v1.Container, st *v1.ContainerStatus) {
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
		if Restartable(p, c, st.State.Terminated.ExitCode) {
			t.restartable++
		}
	case st.LastTerminationState.Terminated != nil:
		t.stopped++
		if Restartable(p, c, st.LastTerminationState.Terminated.ExitCode) {
			t.restartable++
		}
	case st.State.Waiting != nil:
		t.waiting++
	default:
		t.unknown++
	}
}

// findContainer is the status of the named container, nil if there is none.
func findContainer(statuses []v1.ContainerStatus, name string) *v1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == name {
			return &statuses[i]
		}
	}
	return nil
}
