package mux

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// Wanted reports whether the pod is desired: whether the sync loop has it, is
// about to get it, or would get it if policy let it pass. Every clean-up asks
// this, never the sync loop.
func (m *Mux) Wanted(uid types.UID) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.store.owner[uid] != nil || len(m.store.claims[uid]) > 0
}

// WantedBy reports whether a pod that runs without the sync loop's knowledge, and was
// made for this source, is desired. What waits with its UID in another source is
// another pod, of which nothing runs, and what is deleted while it waits never begins.
// Any source counts where source is empty.
func (m *Mux) WantedBy(uid types.UID, source string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.store.owner[uid] != nil || slices.ContainsFunc(m.store.claims[uid], func(sl *slot) bool {
		return (source == "" || sl.source.Name == source) && sl.pending.pod.DeletionTimestamp == nil
	})
}

// WantedAs reports whether the pod is wanted as this instance of it: the sync loop
// has that, and not as rejected, or it waits and was not denied. Any version counts
// where instance is empty.
func (m *Mux) WantedAs(uid types.UID, instance string) bool {
	if instance == "" {
		return m.Wanted(uid)
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if sl := m.store.owner[uid]; sl != nil {
		if sl.runs() && sl.sent.instance == instance || sl.awaitsAs(uid, instance) {
			return true
		}
	}
	return slices.ContainsFunc(m.store.claims[uid], func(sl *slot) bool { return sl.awaitsAs(uid, instance) })
}

// awaitsAs reports whether a version of the slot waits that is this instance of a pod,
// and was not denied.
func (sl *slot) awaitsAs(uid types.UID, instance string) bool {
	w := sl.pending
	if w == nil || w.pod.UID != uid || w.instance != instance {
		return false
	}
	asked, _ := w.item.Asked()
	return asked || w.verdict == nil || w.verdict.Answer != api.Deny
}

// Seen reports whether the named source has delivered its first snapshot; until
// then nothing that runs from it may be ended. A name that is not configured
// (any more) counts as seen: no source is left that could want its pods.
func (m *Mux) Seen(source string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	src, ok := m.store.sources[source]
	return !ok || src.seen
}

// Sources tells the state of every source, ordered by name.
func (m *Mux) Sources() []api.SourceState {
	m.mu.RLock()
	defer m.mu.RUnlock()
	states := make([]api.SourceState, 0, len(m.store.sources))
	for _, src := range m.store.sources {
		states = append(states, src.state(m.running))
	}
	slices.SortFunc(states, func(a, b api.SourceState) int { return cmp.Compare(a.Name, b.Name) })
	return states
}

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
	// Verdict is the verdict that the sync loop got with the pod, nil if there is none. It is stored
	// with the pod and survives restarts.
	Verdict *api.Verdict
	// Rejected is the answer to the conflict of the pod's identity where that is that no
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
			Pod: sl.sent.mutated, Origin: sl.sent.origin, Known: sl.sent.known, Admitted: !sl.sent.denied(), HandedOn: true, Verdict: sl.sent.verdict,
			Rejected: sl.rejection(),
		})
	}
	for _, w := range m.store.pending.All() {
		if m.store.owner[w.pod.UID] == nil && w.running() == nil {
			admitted := w.passes() && (w.verdict == nil || w.verdict.Answer == api.Allow)
			pods = append(pods, Desired{Pod: w.mutated(), Origin: w.origin(), Known: w.known, Admitted: admitted})
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
		return sl.sent.mutated
	}
	for _, w := range m.store.pending.All() {
		if w.pod.UID == uid && w.running() == nil {
			return w.mutated()
		}
	}
	return nil
}
