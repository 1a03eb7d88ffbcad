package agent

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

// reasonCreating is why a container waits of which nothing more is known.
const reasonCreating = "ContainerCreating"

// failures are the last failures of pods that are being started, by UID.
type failures map[types.UID]string

// lastFailures reads the events, newest last. What failed before a container of the pod
// started counts no longer.
func lastFailures(events []status.Event) failures {
	last, known := failures{}, map[types.UID]bool{}
	for i := range slices.Backward(events) {
		e := &events[i]
		failed := e.Type == v1.EventTypeWarning && (strings.HasPrefix(e.Reason, "Failed") || e.Reason == "NetworkNotReady")
		if known[e.UID] || !failed && e.Reason != "Started" {
			continue
		}
		known[e.UID] = true
		if failed {
			last[e.UID] = e.Reason + ": " + e.Message
		}
	}
	return last
}

// explain adds to the containers of a pod that are not made yet why not.
func (f failures) explain(uid types.UID, st *v1.PodStatus) {
	why := f[uid]
	if why == "" || st.Phase != v1.PodPending {
		return
	}
	shared := st.ContainerStatuses
	for i := range shared {
		w := shared[i].State.Waiting
		if w == nil || w.Reason != reasonCreating || w.Message != "" {
			continue
		}
		if &shared[0] == &st.ContainerStatuses[0] {
			st.ContainerStatuses = slices.Clone(shared) // the status is others', too
		}
		st.ContainerStatuses[i].State.Waiting = &v1.ContainerStateWaiting{Reason: w.Reason, Message: why}
	}
}
