package gate

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/status"
)

// Untouched reports whether a pod has run since before the agent started, and its version is known
// only from the runtime.
func (a *Adoption) Untouched(uid types.UID) bool {
	if a == nil {
		return false
	}
	_, runs := a.runs(uid)
	return runs
}

// Shown returns the status of a pod as the agent reports it. A held pod has no worker. If it runs
// untouched, its status is made from the state in the runtime, and does not say that the pod waits
// to be admitted. seen returns the last observed state of the pod, which may be old.
func (a *Adoption) Shown(p *v1.Pod, st v1.PodStatus, seen func(types.UID) status.ObservedPod) v1.PodStatus {
	admitted := api.Condition(&st, api.ConditionAdmitted)
	if st.Phase != v1.PodPending || admitted == nil || admitted.Status != v1.ConditionFalse || !a.Untouched(p.UID) {
		return st
	}
	observed := seen(p.UID)
	if !observed.Active() {
		return st
	}
	return asItRuns(p, &st, observed)
}

// asItRuns returns a status made from the state of a pod in the runtime, with the conditions of st
// about policies. It stays the same until the state in the runtime changes.
func asItRuns(p *v1.Pod, st *v1.PodStatus, observed status.ObservedPod) v1.PodStatus {
	var begun, newest time.Time
	if len(observed.Sandboxes) > 0 {
		begun = observed.Sandboxes[0].CreatedAt
		newest = begun
	}
	for i := range observed.Containers {
		for _, at := range []time.Time{observed.Containers[i].StartedAt, observed.Containers[i].FinishedAt} {
			if at.After(newest) {
				newest = at
			}
		}
	}
	previous := v1.PodStatus{Phase: v1.PodPending, StartTime: new(metav1.NewTime(begun))}
	out := status.Generate(status.Input{Pod: p, Observed: observed, Previous: previous, Now: newest, RuntimeName: status.RuntimeName})
	for i := range st.Conditions {
		if api.Condition(&out, st.Conditions[i].Type) == nil {
			out.Conditions = append(out.Conditions, st.Conditions[i])
		}
	}
	return out
}
