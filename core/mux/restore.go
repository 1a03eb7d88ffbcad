package mux

import (
	"cmp"
	"slices"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// Documents keeps one record per document over restarts; state.Documents does.
type Documents interface {
	// Put is durable when it returns.
	Put(r *state.Record) error
	// Delete forgets a document; one that is not there is no error.
	Delete(source, id string) error
	// Load gives the records of a source, and what could not be read.
	Load(source string) ([]state.Record, []error)
}

// restore takes the last valid version of every document in, as entries that
// their sources have yet to confirm. What a source's first answer then says of
// them is nothing, an update or a removal, never a second ADD.
func (m *Mux) restore() outcome {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	var all outcome
	for _, src := range m.store.ordered() {
		records, errs := m.documents.Load(src.Name)
		for _, err := range errs {
			m.log.Error("last valid version was lost; the source will give it again", "source", src.Name, "err", err)
		}
		// What ran is met first, so that it is chosen again.
		slices.SortStableFunc(records, func(a, b state.Record) int {
			if a.Runs != b.Runs {
				return map[bool]int{true: -1, false: 1}[a.Runs]
			}
			return cmp.Compare(a.ID, b.ID)
		})
		t := m.store.merging(src, now, m.log)
		for i := range records {
			t.restored(&records[i])
		}
		all.changes = append(all.changes, t.changes(pod.Restore)...)
	}
	return all
}

func (s *store) ordered() []*sourceStore {
	var all []*sourceStore
	for _, src := range s.sources {
		all = append(all, src)
	}
	slices.SortFunc(all, func(a, b *sourceStore) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// restored takes a record in.
func (t *merging) restored(r *state.Record) {
	if r.Pod == nil {
		return
	}
	e := &entry{id: r.ID, version: r.Version, podVersion: r.Version, pod: r.Pod, restored: true, since: r.FirstSeen}
	t.source.entries[e.id] = e
	_, entered := t.source.place(e, e.pod)
	if entered.chosen == nil {
		entered.chosen = e
	}
	t.touch(entered)
}

// records are those of the entries that changed.
func (t *merging) records() []state.Record {
	var records []state.Record
	done := map[*entry]bool{}
	for _, e := range t.changed {
		if done[e] || e.slot == nil {
			continue
		}
		done[e] = true
		r := state.Record{
			Source: t.source.Name, ID: e.id, Version: e.podVersion, Pod: e.pod, FirstSeen: t.now,
			Runs: e.slot.chosen == e,
		}
		if r.Runs && e.slot.sent != nil {
			r.FirstSeen = e.slot.sent.origin.FirstSeen
		}
		records = append(records, r)
	}
	return records
}

// persist brings the disk to where the store is. A disk that does not take it
// stops no pod: what is lost is the version a restart would begin with.
func (m *Mux) persist(source string, out *outcome) {
	for i := range out.keep {
		r := &out.keep[i]
		if err := m.documents.Put(r); err != nil {
			m.log.Error("last valid version was not written; a restart may not find it",
				"source", source, "document", r.ID, "err", err)
		}
	}
	for _, id := range out.drop {
		if err := m.documents.Delete(source, id); err != nil {
			m.log.Error("last valid version was not removed; a restart may bring it back until its source is read",
				"source", source, "document", id, "err", err)
		}
	}
}
