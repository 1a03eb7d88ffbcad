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

// Filter decides when an admitted version is sent to the sync loop. Without a Filter it is sent at
// once. The filter is never asked about a deletion or a pod that is being deleted, nor about mirror
// pods and rejected pods.
type Filter interface {
	// Filter takes a question and returns at once. The filter calls answer once, from any goroutine
	// and at any time, or never if the filter stops first. answer does not block.
	Filter(q api.FilterQuestion, answer func(api.FilterVerdict))
	// FilterChanged has a value when other filters are in force than before. All versions that the
	// filter holds back are then put to it again.
	FilterChanged() <-chan struct{}
}

// filterAsk is a question about an update, on its way to the filter.
type filterAsk struct {
	ticket uint64
	api.FilterQuestion
}

// filters reports whether a filter is asked about this version.
func (s *store) filters(p *v1.Pod) bool { return s.filtered && p.DeletionTimestamp == nil }

// filterable reports whether a filter is asked about the slot's chosen version, and with which
// operation, if policy does not judge that version.
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

// passesFilter reports whether the filter lets an admitted version pass. If the answer is not
// known, it asks the filter.
func (t *txn) passesFilter(w *pendingVersion) bool {
	if !t.store.filters(w.pod) || w.verdict != nil && w.verdict.Answer == api.Deny {
		t.endHold(w.slot)
		return true
	}
	if h := w.slot.hold; h != nil && h.Beside != w.runningUID() {
		t.endHold(w.slot) // the pod that runs beside it has terminated or changed
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

// askFilter queues the question for the filter; step sends it last. An answer to an earlier
// question is ignored from then on.
func (t *txn) askFilter(w *pendingVersion, h *hold.Hold) {
	t.withdraw(h)
	t.store.filterTickets++
	ticket := t.store.filterTickets
	h.Asked(ticket, w.pod, t.now)
	t.store.filterAsked[ticket] = w.slot
	t.filterQuestions = append(t.filterQuestions, filterAsk{ticket, w.filterQuestion()})
}

// withdraw discards the question under way: its answer will be ignored.
func (t *txn) withdraw(h *hold.Hold) {
	ticket, _ := h.Question()
	delete(t.store.filterAsked, ticket)
}

// setDue sets the time at which the wait is looked at again.
func (t *txn) setDue(w *pendingVersion, h *hold.Hold) {
	t.store.pending.SetDue(w.item, h.Due())
}

// askFilterAgain asks the filter again about every version that it holds back or has not answered,
// in the order in which they began to wait.
func (t *txn) askFilterAgain() {
	for _, w := range t.store.pending.All() {
		h := w.slot.hold
		switch {
		case h == nil || h.IsPassing():
		case w.hold() != nil:
			t.askFilter(w, h)
			t.setDue(w, h)
		default: // policy does not admit the version now
			t.withdraw(h)
			h.Cancel()
		}
	}
}

// filterQuestion returns the question for the filter.
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

// overdue returns those of the due waits that a filter may not hold back any longer.
func (s *store) overdue(due []*pendingVersion, now time.Time) []*pendingVersion {
	var over []*pendingVersion
	for _, w := range due {
		if s := w.hold(); s != nil && s.Over(now) {
			over = append(over, w)
		}
	}
	return over
}

// releasing is a version that is about to be sent. err is the error of its write to the disk.
type releasing struct {
	wait *pendingVersion
	err  error
}

// applyFilterAnswers records the answers of the filter, and looks at the due versions again. A
// version is sent if an answer lets it pass, or if it was held back long enough. It is written to
// the disk before it is sent.
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

// persistReleasing writes the versions that are about to be sent, and records which writes failed.
// A change of status is not written.
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

// filterAnswered records answers, and releases versions. It ignores an answer whose question was
// asked again or withdrawn.
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
			// The version was stored as sent, but it was not sent.
			w.stored, t.changed = false, append(t.changed, w.entry)
		}
	}
	return t.finish(out)
}

// isHeldBack reports whether the filter has held back the version and the wait is to be announced.
// The wait of a status change is not announced, because announcements show in the status.
func (w *pendingVersion) isHeldBack() bool {
	h := w.hold()
	return h != nil && w.op != api.Reconcile && h.HoldsBack()
}

// hold returns the filter's hold on the version, nil if there is none or policy itself does not
// admit the version.
func (w *pendingVersion) hold() *hold.Hold {
	if w.judged && !w.passes() {
		return nil
	}
	return w.slot.hold
}

// runningUID returns the UID of the pod that runs on while this version waits, empty for none.
func (w *pendingVersion) runningUID() types.UID {
	if running := w.running(); running != nil {
		return running.UID
	}
	return ""
}

// endHold removes the filter's hold from the slot.
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

// keptHold returns the hold of the slot as it is stored on the disk, nil for nothing. The hold of a
// status change is not stored.
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
