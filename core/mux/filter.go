package mux

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/mux/hold"
	"github.com/wardlet/wardlet/core/state"
)

// Filter decides when what policy admits may go on to the sync loop. Without
// one it does at once. What ends a pod, or is about one that is being deleted,
// is never asked about, nor are mirror pods and rejected ones.
type Filter interface {
	// Filter takes a question and returns at once. answer is called once, by any
	// goroutine and at any time, or never if the filter stops first. It does not
	// block.
	Filter(q api.FilterQuestion, answer func(api.FilterVerdict))
	// FilterChanged has a value when other filters are in force than before:
	// everything they hold back is then asked about again.
	FilterChanged() <-chan struct{}
}

// filterAsk is a question about an update, on its way to the filter.
type filterAsk struct {
	ticket uint64
	api.FilterQuestion
}

// filters reports whether a filter has a say in this version.
func (s *store) filters(p *v1.Pod) bool { return s.filtered && p.DeletionTimestamp == nil }

// filterable reports whether a filter has a say in what the slot should run,
// and as what, where policy has none.
func (t *txn) filterable(sl *slot) (api.Op, bool) {
	e, have := sl.chosen, sl.sent
	switch {
	case !t.store.filters(e.Pod):
		return "", false
	case have == nil || have.pod.UID != e.Pod.UID:
		return api.Add, true
	case have.pod == e.Pod:
		return "", false
	}
	fields := t.mutatedDifference(have, mutated(e.Pod, have.verdict), e)
	return operation(e.Pod, fields), fields != 0
}

// passesFilter reports whether the filter lets a version go on that policy admits. If
// that is not known, the filter is asked.
func (t *txn) passesFilter(w *pendingVersion) bool {
	if !t.store.filters(w.pod) || w.verdict != nil && w.verdict.Answer == api.Deny {
		t.endHold(w.slot)
		return true
	}
	if h := w.slot.hold; h != nil && h.Beside != w.runningUID() {
		t.endHold(w.slot) // what it would replace has ended, or is another one
	}
	if w.slot.hold == nil {
		w.slot.hold = &hold.Hold{Beside: w.runningUID()}
	}
	h := w.slot.hold
	next := h.Next(w.pod, t.now)
	if next == hold.Ask {
		t.askFilter(w, h)
	}
	t.setDue(w, h)
	return next == hold.Pass
}

// askFilter puts the question to the filter, once all else is done. An answer to
// an earlier one does not count any more.
func (t *txn) askFilter(w *pendingVersion, h *hold.Hold) {
	t.withdraw(h)
	t.store.filterTickets++
	ticket := t.store.filterTickets
	h.Asked(ticket, w.pod, t.now)
	t.store.filterAsked[ticket] = w.slot
	t.filterQuestions = append(t.filterQuestions, filterAsk{ticket, w.filterQuestion()})
}

// withdraw has the answer to the question under way not count any more.
func (t *txn) withdraw(h *hold.Hold) {
	ticket, _ := h.Question()
	delete(t.store.filterAsked, ticket)
}

// setDue has the wait looked at when something is due.
func (t *txn) setDue(w *pendingVersion, h *hold.Hold) {
	t.store.pending.SetDue(w.item, h.Due())
}

// askFilterAgain asks anew about all that a filter holds back or has not answered,
// in the order it began to wait.
func (t *txn) askFilterAgain() {
	for _, w := range t.store.pending.All() {
		h := w.slot.hold
		switch {
		case h == nil || h.IsPassing():
		case w.hold() != nil:
			t.askFilter(w, h)
			t.setDue(w, h)
		default: // policy comes first
			t.withdraw(h)
			h.Cancel()
		}
	}
}

// filterQuestion is what the filter is asked.
func (w *pendingVersion) filterQuestion() api.FilterQuestion {
	q := api.FilterQuestion{Op: w.op, Pod: w.mutated(), Old: w.running(), Origin: w.origin()}
	if q.Old == nil {
		return q
	}
	if w.op == api.Add {
		q.Op = api.UpdateOp
	}
	if q.Old.UID != w.pod.UID {
		q.Replaces = q.Old.UID
	}
	return q
}

// overdue are those of these waits that a filter may not hold back any longer.
func (s *store) overdue(due []*pendingVersion, now time.Time) []*pendingVersion {
	var over []*pendingVersion
	for _, w := range due {
		if s := w.hold(); s != nil && s.Over(now) {
			over = append(over, w)
		}
	}
	return over
}

// releasing is a version that is about to go on, err why the disk does not take
// it.
type releasing struct {
	wait *pendingVersion
	err  error
}

// applyFilterAnswers records the answers of the filter, and looks again at what is due. A
// version goes on if an answer lets it pass, or if it was held back long enough.
// It is written to the disk before it goes on.
func (m *Mux) applyFilterAnswers(ctx context.Context, given []answer[api.FilterVerdict], over, due []*pendingVersion) error {
	now := m.now()
	var going []releasing
	for _, a := range given {
		sl := m.store.filterAsked[a.ticket]
		if sl != nil && sl.pending != nil && sl.pending.hold() != nil && sl.hold.Lets(sl.pending.pod, &a.value, now) {
			going = append(going, releasing{wait: sl.pending})
		}
	}
	for _, w := range over {
		going = append(going, releasing{wait: w})
	}
	m.persistReleasing(going)
	return m.step(ctx, func(t *txn) outcome {
		for _, w := range due {
			if w.hold() != nil {
				t.markDirty(w.slot)
			} else {
				t.ask(w)
			}
		}
		return m.store.filterAnswered(given, going, t)
	})
}

// persistReleasing writes what is about to go on, as if it had, and notes of which the
// disk does not take it. A status needs no write.
func (m *Mux) persistReleasing(going []releasing) {
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
	failed := failedWrites(err)
	if err != nil {
		m.log.Error("updates that filters pass are not saved yet and wait", "err", err)
	}
	for i := range going {
		switch w := going[i].wait; {
		case w.op == api.Reconcile:
		case failed(state.DocumentID{Source: w.slot.source.Name, ID: w.entry.ID}):
			going[i].err = err
		default:
			w.stored = true
		}
	}
}

// filterAnswered takes answers in, and what may go on. An answer whose question was
// asked again, or is not of interest any more, is passed over.
func (s *store) filterAnswered(given []answer[api.FilterVerdict], going []releasing, t *txn) outcome {
	for i := range given {
		a := &given[i]
		sl := s.filterAsked[a.ticket]
		if sl == nil {
			continue
		}
		delete(s.filterAsked, a.ticket)
		before := sl.hold.Until()
		sl.hold.Answered(&a.value, t.now)
		if !sl.hold.Until().Equal(before) && sl.keptHold() != nil {
			t.changed = append(t.changed, sl.first)
		}
		if sl.pending != nil {
			sl.pending.unannounced = true
		}
		t.markDirty(sl)
	}
	for _, p := range going {
		sl := p.wait.slot
		t.markDirty(sl)
		if p.err != nil {
			sl.hold.Failed(p.err, t.now, writeRetryDelay)
			p.wait.unannounced = true
			continue
		}
		sl.hold.Passes(p.wait.pod)
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

// isHeldBack reports whether the filter has said that the version has to wait,
// and the wait is to be announced. The wait of a status is not: announcements
// show in the status.
func (w *pendingVersion) isHeldBack() bool {
	h := w.hold()
	return h != nil && w.op != api.Reconcile && h.HoldsBack()
}

// hold is what holds the version back that policy admits, nil if policy
// itself does.
func (w *pendingVersion) hold() *hold.Hold {
	if w.judged && !w.passes() {
		return nil
	}
	return w.slot.hold
}

// runningUID is the UID of what runs on while this version waits.
func (w *pendingVersion) runningUID() types.UID {
	if running := w.running(); running != nil {
		return running.UID
	}
	return ""
}

// endHold ends that a filter holds something back of the slot.
func (t *txn) endHold(sl *slot) {
	h := sl.hold
	if h == nil {
		return
	}
	sl.hold = nil
	t.withdraw(h)
	if h.Stored && sl.first != nil {
		t.changed = append(t.changed, sl.first)
	}
}

// keptHold is what the disk has to know of the slot's suppression, nil
// for nothing. That a status is held back is not worth a write.
func (sl *slot) keptHold() *state.Suppressed {
	h, w := sl.hold, sl.pending
	if h == nil || w == nil || w.entry != sl.first || w.op == api.Reconcile {
		return nil
	}
	kept := h.Kept()
	if kept != nil && w.passes() {
		kept.Verdict = w.verdict
	}
	return kept
}
