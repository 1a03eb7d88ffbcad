package mux

import (
	"context"
	"errors"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/state"
)

// secure puts verdicts on the disk that are about to take effect, before any
// of them does. One that cannot be written takes none: its version is held, and
// judged again like any other. Where only the node itself is asked, what it lets pass
// does so on a broken disk, too.
func (m *Mux) secure(given []answer[api.Verdict]) {
	m.store.complete(given)
	var records []state.Record
	for i := range given {
		if w := m.store.asked[given[i].ticket]; w != nil && m.store.polices() && m.store.takesEffect(w, given[i].value.Answer) {
			w.stored = true
			records = append(records, w.record(&given[i].value))
		}
	}
	if len(records) == 0 {
		return
	}
	crashpoint.Reached("verdict given")
	err := m.documents.Apply(records, nil)
	if err == nil {
		crashpoint.Reached("verdict stored")
		return
	}
	failed := unwritten(err)
	m.log.Error("verdicts were not written, so they do not count; their pods are held", "err", err)
	for i := range given {
		a := &given[i]
		w := m.store.asked[a.ticket]
		if w == nil || !w.stored || !failed(state.DocumentID{Source: w.slot.source.Name, ID: w.entry.id}) {
			continue
		}
		w.stored = false
		a.value = api.Verdict{
			Answer: api.Hold, Reason: api.ReasonVerdictNotKept, At: a.value.At, Sets: a.value.Sets,
			Message: "the verdict cannot be kept, so it does not count yet: " + err.Error(),
		}
	}
}

// unwritten tells which documents an error of Documents is about.
func unwritten(err error) func(state.DocumentID) bool {
	batch, ok := errors.AsType[*state.BatchError](err)
	if !ok {
		return func(state.DocumentID) bool { return err != nil }
	}
	named := make(map[state.DocumentID]bool, len(batch.Documents))
	for _, id := range batch.Documents {
		named[id] = true
	}
	return func(id state.DocumentID) bool { return named[id] }
}

// takesEffect reports whether something goes on to the sync loop when this is
// the answer.
func (s *store) takesEffect(w *wait, answer api.Answer) bool {
	switch answer {
	case api.Hold:
		return false
	case api.Deny:
		return w.running() == nil || s.stopDenied.Load() && w.stops()
	}
	return !s.filters(w.pod)
}

// judged takes verdicts in. One whose question was asked again, or is not of
// interest any more, is passed over.
func (s *store) judged(given []answer[api.Verdict], t *merging, jitter func(time.Duration) time.Duration) outcome {
	var answered []*wait
	for _, a := range given {
		w := s.asked[a.ticket]
		if w == nil {
			continue
		}
		delete(s.asked, a.ticket)
		t.remade(w, &a.value)
		w.take(&a.value, t.now, jitter)
		s.retries.set(w)
		answered = append(answered, w)
		t.touch(w.slot)
	}
	out := outcome{changes: t.changes()}
	for _, w := range answered {
		if w.stored && (w.slot.sent == nil || w.slot.sent.pod != w.pod) {
			// What is on the disk has not come to pass.
			w.stored, t.changed = false, append(t.changed, w.entry)
		}
		// One that is allowed and still here was refused for its UID.
		if w.slot.wait == w && w.verdict.Answer != api.Allow {
			t.announce(w)
		}
	}
	return t.finish(out)
}

// announce tells of a version that goes on waiting, unless its UID is that of another
// pod, which has a status of its own.
func (t *merging) announce(w *wait) {
	before := w.told
	w.told, w.stale = w.shownAs(), false
	if w.running() == nil && t.store.ownedBeside(w.slot, w.told) {
		if w.told = ""; before != "" {
			t.tell(func(to Waits) { to.Passed(before) })
		}
		return
	}
	if before != "" && before != w.told {
		t.tell(func(to Waits) { to.Passed(before) })
	}
	waiting := w.waiting()
	t.tell(func(to Waits) { to.Waits(waiting) })
}

// announceFreed tells of what waits and was not told of, as its UID was that of
// another pod until now.
func (t *merging) announceFreed() {
	for _, uid := range t.freed {
		for _, sl := range t.store.claims[uid] {
			w := sl.wait
			if w.told == "" && (w.verdict != nil && w.verdict.Answer != api.Allow || w.heldBack()) {
				t.announce(w)
			}
		}
	}
	t.freed = nil
}

// step changes the store and does what follows from it, in this order: the
// disk, the notices, the sync loop, the gate.
func (m *Mux) step(ctx context.Context, change func(*merging) outcome) error {
	m.mu.Lock()
	out := change(m.store.merging(m.now(), m.log))
	m.mu.Unlock()
	m.persist(&out)
	m.keepResolutions(&out)
	for _, notice := range out.notices {
		notice(m.waits)
	}
	if err := m.send(ctx, out); err != nil {
		return err
	}
	if len(out.changes) > 0 {
		crashpoint.Reached("change handed on")
	}
	for _, r := range out.recalled {
		m.gate.Admitted(r.Question, r.verdict)
	}
	for _, q := range out.asked {
		m.gate.Judge(q.Question, func(v api.Verdict) { m.verdicts.put(q.ticket, v) })
	}
	for _, q := range out.offers {
		m.filter.Filter(q.FilterQuestion, func(v api.FilterVerdict) { m.filtered.put(q.ticket, v) })
	}
	for _, q := range out.contentions {
		m.resolver.Resolve(q.Contest, func(r api.Resolution) { m.answers.put(q.ticket, r) })
	}
	return nil
}
