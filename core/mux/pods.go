package mux

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// Desired is a pod of the desired set.
type Desired struct {
	Pod    *v1.Pod
	Origin api.Origin
	// Known is since when there is such a pod, by UID. What was denied and is judged
	// again is the same pod, though Origin counts it as new.
	Known time.Time
	// Admitted: policy let it pass, or was not asked.
	Admitted bool
	// HandedOn: the sync loop has it, or is about to get it.
	HandedOn bool
	// Verdict is what the sync loop has the pod with, nil for none: it is stored with
	// the pod, also over restarts.
	Verdict *api.Verdict
	// Rejected is the answer to the contest of the pod's identity where that is that no
	// candidate may run, else nil.
	Rejected *api.Resolution
}

// Pods are the pods the sync loop has, is about to get, or would get if policy
// let them pass and nothing else runs in their place, in no order.
func (m *Mux) Pods() []Desired {
	m.mu.RLock()
	defer m.mu.RUnlock()
	pods := make([]Desired, 0, len(m.store.owner))
	for _, sl := range m.store.owner {
		pods = append(pods, Desired{
			Pod: sl.sent.final, Origin: sl.sent.origin, Known: sl.sent.known, Admitted: !sl.sent.denied(), HandedOn: true, Verdict: sl.sent.verdict,
			Rejected: sl.rejected(),
		})
	}
	for w := range m.store.parked {
		if m.store.owner[w.pod.UID] == nil && w.running() == nil {
			admitted := w.passes() && (w.verdict == nil || w.verdict.Answer == api.Allow)
			pods = append(pods, Desired{Pod: w.final(), Origin: w.origin(), Known: w.known, Admitted: admitted})
		}
	}
	return pods
}

// PodOf returns the pod of this UID as the sync loop has it, is about to get it, or would get it; nil where none is
// wanted.
func (m *Mux) PodOf(uid types.UID) *v1.Pod {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if sl := m.store.owner[uid]; sl != nil {
		return sl.sent.final
	}
	for w := range m.store.parked {
		if w.pod.UID == uid && w.running() == nil {
			return w.final()
		}
	}
	return nil
}
