package status

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Input is everything the status of a pod is made from. Generate changes
// none of it.
type Input struct {
	Pod *v1.Pod
	// Observed is the newest inspection; the zero value is a pod the runtime
	// does not know.
	Observed ObservedPod
	// Previous is the status in the store. Without a phase it counts as
	// missing, and the status in Pod is taken instead.
	Previous v1.PodStatus
	// Reasons say, by container name, why the last try to start it failed.
	Reasons map[string]Reason
	// Terminating is true once the pod is being ended: nothing of it starts
	// again. A deletion timestamp says the same.
	Terminating bool
	// Terminal is true once its containers were stopped for good. It implies
	// Terminating.
	Terminal bool
	// Failure is why the pod failed whatever its containers say, nil where it has
	// not. Only an end that the API server knows of comes before it.
	Failure *Reason
	// Now becomes the start time and the transition times, unless the runtime shows
	// that the pod ran before anything was reported of it.
	Now time.Time
	// HostIPs are the node's addresses, the primary one first, at most one
	// per family. Empty without an API client, as with a kubelet.
	HostIPs []string
	// RuntimeName is the scheme of container IDs, such as "containerd".
	RuntimeName string
}

// Generate makes the status of a pod from what the runtime shows of it.
func Generate(in Input) v1.PodStatus {
	if in.Previous.Phase == "" {
		in.Previous = in.Pod.Status
	}
	st := v1.PodStatus{
		ObservedGeneration: in.Pod.Generation,
		QOSClass:           pod.QOS(in.Pod),
		StartTime:          in.Previous.StartTime,
		ContainerStatuses:  containerStatuses(&in),
	}
	before := in.past()
	if st.StartTime.IsZero() {
		st.StartTime = new(metav1.NewTime(in.Now))
		if !before.made.IsZero() {
			st.StartTime.Time = before.made
		}
	}
	setPhase(&in, &st)
	setIPs(&in, &st)
	st.Conditions = conditions(&in, &st, &before)
	return st
}

// setPhase computes the phase and settles it with what was recorded before: a
// terminal phase is never left, and the API server's wins. Reason and message
// stay while the phase does.
func setPhase(in *Input, st *v1.PodStatus) {
	st.Phase = phaseOf(in.Pod, st.ContainerStatuses, in.Terminal)
	if !pod.IsTerminal(st.Phase) && pod.IsTerminal(in.Previous.Phase) {
		st.Phase = in.Previous.Phase
	}
	if pod.IsTerminal(in.Pod.Status.Phase) {
		st.Phase = in.Pod.Status.Phase
	} else if in.Failure != nil {
		st.Phase, st.Reason, st.Message = v1.PodFailed, in.Failure.Reason, in.Failure.Message
		return
	}
	for _, from := range []*v1.PodStatus{&in.Previous, &in.Pod.Status} {
		if from.Phase == st.Phase && st.Reason == "" && st.Message == "" {
			st.Reason, st.Message = from.Reason, from.Message
		}
	}
}

// ending reports whether nothing of the pod will be started again.
func (in *Input) ending() bool {
	return in.Terminating || in.Terminal || in.Pod.DeletionTimestamp != nil
}
