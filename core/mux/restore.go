package mux

import (
	"cmp"
	"slices"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/documents"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// Documents keeps one record per document over restarts; state.Documents does.
type Documents interface {
	// Apply stores records in place of those of the same documents, and then
	// removes others; one that is not there is no error. It is durable when it
	// returns. Where it fails with a *state.BatchError, the documents that does
	// not name are.
	Apply(put []state.Record, remove []state.DocumentID) error
	// LoadAll returns the records of all sources, ordered by source, and what
	// could not be read.
	LoadAll() ([]state.Record, []error)
}

// restore takes the last valid version of every document in, as entries that
// their sources have yet to confirm. What a source's first answer then says of
// them is nothing, an update or a removal, never a second ADD.
func (m *Mux) restore(t *txn) outcome {
	var resumed []api.Change
	records, errs := m.documents.LoadAll()
	for _, err := range errs {
		m.log.Error("the last valid version is lost; its source will send it again", "err", err)
	}
	// What ran is met first, so that it is chosen again.
	slices.SortStableFunc(records, func(a, b state.Record) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), -compareBool(a.Runs, b.Runs), cmp.Compare(a.ID, b.ID))
	})
	for i := range records {
		// A source that is not configured any more wants nothing. Should it come
		// back, it is another one's word that counts, not that of its past.
		src := m.store.sources[records[i].Source]
		if src == nil {
			t.gone = append(t.gone, state.DocumentID{Source: records[i].Source, ID: records[i].ID})
			continue
		}
		if c, ok := t.restored(src, &records[i]); ok {
			resumed = append(resumed, c)
		}
	}
	kept, errs := m.resolutions.Load()
	for _, err := range errs {
		m.log.Error("the resolution of a conflict is lost; the policy decides again", "err", err)
	}
	for _, r := range kept {
		m.store.conflicts.Restore(r)
	}
	out := outcome{changes: append(resumed, t.changes()...)}
	if m.store.judgesAll() {
		t.askDenied(anyPod)
	}
	return t.finish(out)
}

// restored adds what the disk has of a document, and returns the change that hands on
// what was handed on before.
func (t *txn) restored(src *sourceStore, r *state.Record) (api.Change, bool) {
	if r.Pod == nil {
		return api.Change{}, false
	}
	e := src.docs.Restore(r)
	switch {
	case r.Suppressed == nil:
	case t.store.filtered:
		e.Suppressed = new(*r.Suppressed)
	default:
		t.changed = append(t.changed, e)
	}
	sl := src.slot(e.Identity)
	if sl.first == nil {
		sl.first = e
	}
	t.markDirty(sl)
	if r.Decided == nil || sl.first != e {
		return api.Change{}, false
	}
	return t.resume(sl, e, r.Decided)
}

// resume hands on what was last decided for a document: its newest version, or
// the one that runs until that may take its place. An earlier agent has kept what
// runs under the name that its document had before; that ends.
func (t *txn) resume(sl *slot, e *documents.Entry, d *state.Decided) (api.Change, bool) {
	p := cmp.Or(d.Pod, e.Pod)
	if d.Identity != nil && *d.Identity != sl.identity {
		sl = sl.source.slot(*d.Identity)
		t.markDirty(sl)
	}
	if sl.sent != nil || t.store.owner[p.UID] != nil {
		t.log.Error("saved pod is not resumed: another pod has its key", "source", e.Source, "document", e.ID, "uid", p.UID)
		return api.Change{}, false
	}
	t.store.sends++
	sl.sent = &sent{seq: t.store.sends, origin: d.Origin, restored: true, after: d.After}
	t.setSent(sl.sent, p, d.Verdict)
	t.store.owner[p.UID] = sl
	return api.Change{
		Op: api.Restore, Source: d.Origin.Source, New: sl.sent.mutated, Origin: sl.sent.origin, Restored: true, Verdict: d.Verdict, Replaces: d.After,
	}, true
}

// records are those of the entries that changed.
func (t *txn) records() []state.Record {
	var records []state.Record
	done := map[*documents.Entry]bool{}
	for _, e := range t.changed {
		sl := t.store.slotOf(e)
		if done[e] || sl == nil {
			continue
		}
		done[e] = true
		if pod.IsMirror(e.Pod) {
			// It is made again from the pod it mirrors; before, its document
			// may have been another.
			t.gone = append(t.gone, state.DocumentID{Source: e.Source, ID: e.ID})
			continue
		}
		r := state.Record{Source: e.Source, ID: e.ID, Version: e.Version, Pod: e.Pod, FirstSeen: e.FirstSeen, Runs: sl.first == e}
		if have := sl.sent; r.Runs && have != nil {
			r.FirstSeen = have.origin.FirstSeen
			r.Decided = &state.Decided{Origin: have.origin, Verdict: have.verdict, After: have.after}
			if have.pod != e.Pod {
				r.Decided.Pod = have.pod
			}
			if pod.Identity(have.pod) != sl.identity {
				r.Decided.Identity = new(sl.identity)
			}
		}
		if r.Suppressed = e.Suppressed; r.Runs && r.Suppressed == nil {
			if r.Suppressed = sl.keptHold(); r.Suppressed != nil {
				sl.hold.Stored = true
			}
		}
		records = append(records, r)
	}
	return records
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
