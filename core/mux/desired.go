package mux

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// Wanted reports whether the pod is desired: whether the sync loop has it, is about to get it, or
// would get it if policy admitted it. Every clean-up calls Wanted and does not ask the sync loop.
func (m *Mux) Wanted(uid types.UID) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.store.owner[uid] != nil || len(m.store.claims[uid]) > 0
}

// WantedBy reports whether a pod that the sync loop does not have, but that runs and was made for
// this source, is desired. A pod that waits with its UID in another source is another pod and does
// not run. A pod that is deleted while it waits never starts. If source is empty, any source
// matches.
func (m *Mux) WantedBy(uid types.UID, source string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.store.owner[uid] != nil || slices.ContainsFunc(m.store.claims[uid], func(sl *slot) bool {
		return (source == "" || sl.source.Name == source) && sl.pending.pod.DeletionTimestamp == nil
	})
}

// WantedAs reports whether the pod is wanted as this instance: the sync loop has that instance, not
// rejected, or the instance waits and was not denied. If instance is empty, any version matches.
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

// awaitsAs reports whether this instance of a pod waits in the slot and was not denied.
func (sl *slot) awaitsAs(uid types.UID, instance string) bool {
	w := sl.pending
	if w == nil || w.pod.UID != uid || w.instance != instance {
		return false
	}
	asked, _ := w.item.Asked()
	return asked || w.verdict == nil || w.verdict.Answer != api.Deny
}

// Seen reports whether the named source has delivered its first snapshot. Until then no running pod
// of the source may be terminated. A source that is not configured counts as seen, because it can
// no longer want its pods.
func (m *Mux) Seen(source string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	src, ok := m.store.sources[source]
	return !ok || src.seen
}

// Sources returns the state of every source, ordered by name.
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
	// Known is the time since when there is such a pod, by UID. A pod that was denied and is judged
	// again keeps this time, although Origin.FirstSeen is new.
	Known time.Time
	// Admitted: policy admitted the pod, or was not asked.
	Admitted bool
	// HandedOn: the sync loop has it, or is about to get it.
	HandedOn bool
	// Verdict is the verdict that the sync loop got with the pod, nil if there is none. It is stored
	// with the pod and survives restarts.
	Verdict *api.Verdict
	// Rejected is the answer to the conflict of the pod's identity if the answer is that no
	// candidate may run, else nil.
	Rejected *api.Resolution
}

// Pods returns the pods that the sync loop has, is about to get, or would get if policy admitted
// them and no other pod ran in their place. They are in no order.
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

// PodOf returns the pod of this UID as the sync loop has it, is about to get it, or would get it.
// It returns nil if no such pod is wanted.
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
