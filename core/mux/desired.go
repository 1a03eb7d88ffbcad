package mux

import (
	"cmp"
	"slices"

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
		return (source == "" || sl.source.Name == source) && sl.wait.pod.DeletionTimestamp == nil
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
	w := sl.wait
	return w != nil && w.pod.UID == uid && w.instance == instance &&
		(w.ticket != 0 || w.verdict == nil || w.verdict.Answer != api.Deny)
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
