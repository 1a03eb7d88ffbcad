package mux

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
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

// offer is a question about an update, on its way to the filter.
type offer struct {
	ticket uint64
	api.FilterQuestion
}

// filters reports whether a filter has a say in this version.
func (s *store) filters(p *v1.Pod) bool { return s.filtered && p.DeletionTimestamp == nil }

// filterable reports whether a filter has a say in what the slot should run,
// and as what, where policy has none.
func (t *merging) filterable(sl *slot) (api.Op, bool) {
	e, have := sl.chosen, sl.sent
	switch {
	case !t.store.filters(e.pod):
		return "", false
	case have == nil || have.pod.UID != e.pod.UID:
		return api.Add, true
	case have.pod == e.pod:
		return "", false
	}
	fields := t.finalDifference(have, final(e.pod, have.verdict), e)
	return operation(e.pod, fields), fields != 0
}

// offer reports whether the filter lets a version go on that policy admits. If
// that is not known, the filter is asked.
func (t *merging) offer(w *wait) bool {
	if !t.store.filters(w.pod) || w.verdict != nil && w.verdict.Answer == api.Deny {
		t.unhold(w.slot)
		return true
	}
	if s := w.slot.held; s != nil && s.beside != w.beside() {
		t.unhold(w.slot) // what it would replace has ended, or is another one
	}
	if w.slot.held == nil {
		w.slot.held = &suppression{beside: w.beside()}
	}
	s := w.slot.held
	switch {
	case s.free == nil:
	case sameContent(s.free, w.pod):
		s.free = w.pod
	default: // it could not go on for another reason, and has changed
		s.free, s.released = nil, false
	}
	if s.free == nil && s.ticket == 0 && !s.over(t.now) && !s.lasts(w.pod, t.now) {
		t.offerTo(w, s)
	}
	t.wake(w, s)
	return s.free != nil
}

// offerTo puts the question to the filter, once all else is done. An answer to
// an earlier one does not count any more.
func (t *merging) offerTo(w *wait, s *suppression) {
	t.store.tickets++
	delete(t.store.offered, s.ticket)
	s.ticket, s.asked, s.again, s.stuck = t.store.tickets, w.pod, time.Time{}, time.Time{}
	s.askedAt = t.now
	t.store.offered[s.ticket] = w.slot
	t.offers = append(t.offers, offer{s.ticket, w.filterQuestion()})
}

// wake has the wait looked at when something is due.
func (t *merging) wake(w *wait, s *suppression) {
	w.retryAt = s.due()
	t.store.retries.set(w)
}

// offerAgain asks anew about all that a filter holds back or has not answered,
// in the order it began to wait.
func (t *merging) offerAgain() {
	for _, w := range t.store.waiting() {
		s := w.slot.held
		switch {
		case s == nil || s.free != nil:
		case w.suppressed() != nil:
			t.offerTo(w, s)
			t.wake(w, s)
		default: // policy comes first
			delete(t.store.offered, s.ticket)
			s.ticket, s.verdict, s.again = 0, nil, time.Time{}
		}
	}
}

// filterQuestion is what the filter is asked.
func (w *wait) filterQuestion() api.FilterQuestion {
	q := api.FilterQuestion{Op: w.op, Pod: w.final(), Old: w.running(), Origin: w.origin()}
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
