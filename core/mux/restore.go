package mux

import (
	"cmp"
	"slices"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/documents"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// Documents stores one record per document over restarts; state.Documents implements it.
type Documents interface {
	// Apply stores records in place of those of the same documents, and then removes the others. A
	// missing record is no error. The change is durable when Apply returns. If it returns a
	// *state.BatchError, the documents that the error does not name are durable.
	Apply(put []state.Record, remove []state.DocumentID) error
	// LoadAll returns the records of all sources, ordered by source, and the errors of those that
	// could not be read.
	LoadAll() ([]state.Record, []error)
}

// restore loads the last valid version of every document. The sources have yet to confirm these
// entries. The first delivery of a source then results in no change, an update or a removal for
// them, never in a second ADD.
func (m *Mux) restore(t *txn) outcome {
	var resumed []api.Change
	records, errs := m.documents.LoadAll()
	for _, err := range errs {
		m.log.Error("the last valid version is lost; its source will send it again", "err", err)
	}
	// Versions that ran come first, so that they are chosen again.
	slices.SortStableFunc(records, func(a, b state.Record) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), -compareBool(a.Runs, b.Runs), cmp.Compare(a.ID, b.ID))
	})
	for i := range records {
		// The documents of a source that is not configured any more are removed. If the source
		// comes back, its new deliveries are used, not its old documents.
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

// restored adds a document from the disk, and returns the change that sends its last version to the
// sync loop again.
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

// resume sends the version that was last admitted or denied for a document: its newest version, or
// the older one that runs until the newest may replace it. An earlier version of the agent stored a
// running pod under its document's former identity; such a pod is terminated.
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

// records returns the records of the entries that changed.
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
			// A mirror pod is made again from the pod that it mirrors. Its document may have had a
			// record for another pod before.
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
