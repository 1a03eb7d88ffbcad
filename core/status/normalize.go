package status

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxMessages bounds the termination messages of a pod together, in bytes;
// each container has an equal share.
const maxMessages = 12 << 10

// normalize brings st into the form the API server would give back, so that
// equal statuses compare equal: whole seconds, containers by name, bounded
// messages. It changes st in place.
func normalize(st *v1.PodStatus) {
	if st.StartTime != nil {
		wholeSeconds(st.StartTime)
	}
	for i := range st.Conditions {
		wholeSeconds(&st.Conditions[i].LastProbeTime)
		wholeSeconds(&st.Conditions[i].LastTransitionTime)
	}
	share := maxMessages / max(1, len(st.ContainerStatuses))
	for i := range st.ContainerStatuses {
		c := &st.ContainerStatuses[i]
		normalizeState(&c.State, share)
		normalizeState(&c.LastTerminationState, share)
	}
	slices.SortFunc(st.ContainerStatuses, byName)
}

func normalizeState(s *v1.ContainerState, maxMessage int) {
	if s.Running != nil {
		wholeSeconds(&s.Running.StartedAt)
	}
	if t := s.Terminated; t != nil {
		wholeSeconds(&t.StartedAt)
		wholeSeconds(&t.FinishedAt)
		t.Message = t.Message[:min(len(t.Message), maxMessage)]
	}
}

func wholeSeconds(t *metav1.Time) {
	if !t.IsZero() {
		t.Time = t.UTC().Truncate(time.Second)
	}
}

// same reports whether two normalised statuses say the same. When a condition
// was last looked at or changed is not part of it.
func same(a, b *v1.PodStatus) bool {
	return equality.Semantic.DeepEqual(timeless(a), timeless(b))
}

// timeless is st without what same leaves out.
func timeless(st *v1.PodStatus) v1.PodStatus {
	out := *st
	out.Conditions = slices.Clone(st.Conditions)
	for i := range out.Conditions {
		c := &out.Conditions[i]
		c.LastProbeTime, c.LastTransitionTime, c.ObservedGeneration = metav1.Time{}, metav1.Time{}, 0
	}
	return out
}
