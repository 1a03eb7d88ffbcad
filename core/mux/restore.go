package mux

import (
	"cmp"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
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
func (m *Mux) restore(t *merging) outcome {
	var resumed []api.Change
	records, errs := m.documents.LoadAll()
	for _, err := range errs {
		m.log.Error("last valid version was lost; its source will give it again", "err", err)
	}
	// What ran is met first, so that it is chosen again.
	slices.SortStableFunc(records, func(a, b state.Record) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), -compareBool(a.Runs, b.Runs), cmp.Compare(a.ID, b.ID))
	})
	for i := range records {
		// A source that is not configured any more wants nothing. Should it come
		// back, it is another one's word that counts, not that of its past.
		if t.source = m.store.sources[records[i].Source]; t.source == nil {
			t.gone = append(t.gone, state.DocumentID{Source: records[i].Source, ID: records[i].ID})
			continue
		}
		if c, ok := t.restored(&records[i]); ok {
			resumed = append(resumed, c)
		}
	}
	t.source = nil
	kept, errs := m.resolutions.Load()
	for _, err := range errs {
		m.log.Error("the answer to a conflict was lost; it is asked for again", "err", err)
	}
	for _, r := range kept {
		m.store.kept[r.Identity] = r
	}
	out := outcome{changes: append(resumed, t.changes()...)}
	if m.store.polices() {
		t.askDenied(anyPod)
	}
	return t.finish(out)
}

// restored takes a record in, and returns the change that hands on what was
// handed on before.
func (t *merging) restored(r *state.Record) (api.Change, bool) {
	if r.Pod == nil {
		return api.Change{}, false
	}
	e := t.source.entry(r.ID)
	e.version, e.podVersion, e.pod, e.firstSeen, e.restored = r.Version, r.Version, r.Pod, r.FirstSeen, true
	switch {
	case r.Suppressed == nil:
	case t.store.filtered:
		e.suppressed = new(*r.Suppressed)
	default:
		t.changed = append(t.changed, e)
	}
	_, entered := t.source.place(e, e.pod)
	if entered.first == nil {
		entered.first = e
	}
	t.touch(entered)
	if r.Decided == nil || entered.first != e {
		return api.Change{}, false
	}
	return t.resume(e, r.Decided)
}

// resume hands on what was last decided for a document: its newest version, or
// the one that runs until that may take its place. It is found where it was:
// that need not be what its document stands for, nor what the pod says.
func (t *merging) resume(e *entry, d *state.Decided) (api.Change, bool) {
	p := cmp.Or(d.Pod, e.pod)
	sl := e.slot
	switch {
	case d.Identity != nil:
		sl = t.source.slot(*d.Identity)
	case sl.sent != nil || !isMerely(p, e.pod):
		sl = t.source.slot(pod.Identity(p))
	}
	if sl != e.slot {
		t.left[e], sl.heir = sl, e
		t.touch(sl)
	}
	if sl.sent != nil || t.store.owner[p.UID] != nil {
		t.log.Error("stored pod is not resumed, another has its place", "source", t.source.Name, "document", e.id, "uid", p.UID)
		return api.Change{}, false
	}
	t.store.sends++
	sl.sent = &sent{seq: t.store.sends, origin: d.Origin, restored: true, after: d.After}
	t.handOn(sl.sent, p, d.Verdict)
	t.store.owner[p.UID] = sl
	return api.Change{
		Op: api.Restore, Source: d.Origin.Source, New: sl.sent.final, Origin: sl.sent.origin, Restored: true, Verdict: d.Verdict, Replaces: d.After,
	}, true
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
		if pod.IsMirror(e.pod) {
			// It is made again from the pod it mirrors; before, its document
			// may have been another.
			t.gone = append(t.gone, state.DocumentID{Source: e.slot.source.Name, ID: e.id})
			continue
		}
		r := state.Record{
			Source: e.slot.source.Name, ID: e.id, Version: e.podVersion, Pod: e.pod, FirstSeen: e.firstSeen,
			Runs: e.slot.first == e,
		}
		if at := e.decided(); at != nil {
			have := at.sent
			r.FirstSeen = have.origin.FirstSeen
			r.Decided = &state.Decided{Origin: have.origin, Verdict: have.verdict, After: have.after}
			if have.pod != e.pod {
				r.Decided.Pod = have.pod
			}
			if at.identity != e.slot.identity || at.identity != pod.Identity(have.pod) {
				r.Decided.Identity = new(at.identity)
			}
		}
		if r.Suppressed = e.suppressed; r.Runs && r.Suppressed == nil {
			if r.Suppressed = e.slot.keptSuppression(); r.Suppressed != nil {
				e.slot.held.kept = true
			}
		}
		records = append(records, r)
	}
	return records
}

// decided is the slot of what was handed on for a document: its own, or the one
// it has left and whose pod it is to replace; nil where nothing was.
func (e *entry) decided() *slot {
	sl := e.slot
	if sl.first != e {
		return nil
	}
	if sl.sent == nil && sl.wait != nil && sl.wait.from != nil && sl.wait.from.source == sl.source {
		sl = sl.wait.from
	}
	if sl.sent == nil {
		return nil
	}
	return sl
}

// writeAgain is how long a write that failed waits for the next try.
const writeAgain = 10 * time.Second

// persist brings the disk to where the store is. A disk that does not take it
// stops no pod: what is lost until it does is the version a restart would begin
// with. The goroutine of Run calls it.
func (m *Mux) persist(out *outcome) {
	if len(out.keep) == 0 && len(out.drop) == 0 {
		return
	}
	err := m.documents.Apply(out.keep, out.drop)
	if err != nil {
		m.log.Error("last valid versions are not on the disk as they are; a restart may begin with earlier ones", "err", err, "again", writeAgain)
	}
	failed := unwritten(err)
	note := func(id state.DocumentID) {
		if failed(id) {
			m.unwritten[id] = true
		} else {
			delete(m.unwritten, id)
		}
	}
	for i := range out.keep {
		note(state.DocumentID{Source: out.keep[i].Source, ID: out.keep[i].ID})
	}
	for _, id := range out.drop {
		note(id)
	}
}

// rewrite has the disk brought to where the store is for the documents of
// writes that failed.
func (m *Mux) rewrite(t *merging) outcome {
	for id := range m.unwritten {
		var e *entry
		if src := m.store.sources[id.Source]; src != nil {
			e = src.entries[id.ID]
		}
		if e != nil && e.pod != nil {
			t.changed = append(t.changed, e)
		} else {
			t.gone = append(t.gone, id)
		}
	}
	return t.finish(outcome{})
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
