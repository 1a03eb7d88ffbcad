package mux

import (
	"context"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/state"
)

// passage is a version that is about to go on, err why the disk does not take
// it.
type passage struct {
	wait *wait
	err  error
}

// sift records the answers of the filter, and looks again at what is due. A
// version goes on if an answer lets it pass, or if it was held back long enough.
// It is written to the disk before it goes on.
func (m *Mux) sift(ctx context.Context, given []answer[api.FilterVerdict], over, due []*wait) error {
	now := m.now()
	var going []passage
	for _, a := range given {
		sl := m.store.offered[a.ticket]
		if sl != nil && sl.wait != nil && sl.wait.suppressed() != nil && sl.held.lets(sl.wait.pod, &a.value, now) {
			going = append(going, passage{wait: sl.wait})
		}
	}
	for _, w := range over {
		going = append(going, passage{wait: w})
	}
	m.keepGoing(going)
	return m.step(ctx, func(t *merging) outcome {
		for _, w := range due {
			if w.suppressed() != nil {
				t.touch(w.slot)
			} else {
				t.ask(w)
			}
		}
		return m.store.sifted(given, going, t)
	})
}

// keepGoing writes what is about to go on, as if it had, and notes of which the
// disk does not take it. A status needs no write.
func (m *Mux) keepGoing(going []passage) {
	var records []state.Record
	for i := range going {
		w := going[i].wait
		if w.op == api.Reconcile {
			continue
		}
		v := w.verdict
		if v == nil && w.slot.sent != nil && w.op != api.Add {
			v = w.slot.sent.verdict
		}
		records = append(records, w.record(v))
	}
	if len(records) == 0 {
		return
	}
	crashpoint.Reached("verdict given")
	err := m.documents.Apply(records, nil)
	crashpoint.Reached("verdict stored")
	failed := unwritten(err)
	if err != nil {
		m.log.Error("what filters let pass was not written, so it does not go on yet", "err", err)
	}
	for i := range going {
		switch w := going[i].wait; {
		case w.op == api.Reconcile:
		case failed(state.DocumentID{Source: w.slot.source.Name, ID: w.entry.id}):
			going[i].err = err
		default:
			w.stored = true
		}
	}
}

// sifted takes answers in, and what may go on. An answer whose question was
// asked again, or is not of interest any more, is passed over.
func (s *store) sifted(given []answer[api.FilterVerdict], going []passage, t *merging) outcome {
	for i := range given {
		a := &given[i]
		sl := s.offered[a.ticket]
		if sl == nil {
			continue
		}
		delete(s.offered, a.ticket)
		before := sl.held.until()
		sl.held.take(&a.value, t.now)
		if !sl.held.until().Equal(before) && sl.keptSuppression() != nil {
			t.changed = append(t.changed, sl.first)
		}
		if sl.wait != nil {
			sl.wait.stale = true
		}
		t.touch(sl)
	}
	for _, p := range going {
		sl := p.wait.slot
		t.touch(sl)
		if p.err != nil {
			sl.held.fail(p.err, t.now)
			p.wait.stale = true
			continue
		}
		sl.held.free, sl.held.stuck = p.wait.pod, time.Time{}
	}
	out := outcome{changes: t.changes()}
	for _, p := range going {
		if w := p.wait; w.stored && (w.slot.sent == nil || w.slot.sent.pod != w.pod) {
			// What is on the disk has not come to pass.
			w.stored, t.changed = false, append(t.changed, w.entry)
		}
	}
	return t.finish(out)
}

// heldBack reports whether the filter has said that the version has to wait,
// and the wait is to be announced. The wait of a status is not: announcements
// show in the status.
func (w *wait) heldBack() bool {
	s := w.suppressed()
	if s == nil || s.free != nil || s.ticket != 0 || w.op == api.Reconcile {
		return false
	}
	return !s.stuck.IsZero() || s.verdict != nil && s.verdict.Suppresses()
}
