package mux

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// minDefer is the least time after which something deferred is offered again.
const minDefer = time.Second

// suppression is that a filter holds back what would go on for a slot. It
// outlives newer content: it ends when something goes on, when nothing is left
// that could, when policy does not admit the newest version, and with the pod
// that runs on meanwhile.
type suppression struct {
	// beside is the pod that runs on meanwhile, empty for none.
	beside types.UID
	// asked is the version of the newest question, askedAt when that was, ticket that
	// question while it is under way, verdict the newest answer; nil before the first.
	asked   *v1.Pod
	ticket  uint64
	askedAt time.Time
	verdict *api.FilterVerdict
	// since is when it was held back first, zero before that. It is not for
	// longer than limit from then on; 0 while that is not known.
	since time.Time
	limit time.Duration
	// again is when it is offered again, zero for when it changes.
	again time.Time
	// stuck is when something is tried again that the disk has not taken, zero
	// for nothing.
	stuck time.Time
	// released: it may pass whatever the filter says.
	released bool
	// free is the version that may go on now.
	free *v1.Pod
	// kept: the disk knows of it.
	kept bool
}

// suppressed is what holds the version back that policy admits, nil if policy
// itself does.
func (w *wait) suppressed() *suppression {
	if w.judged && !w.passes() {
		return nil
	}
	return w.slot.held
}

// beside is the UID of what runs on while this version waits.
func (w *wait) beside() types.UID {
	if running := w.running(); running != nil {
		return running.UID
	}
	return ""
}

// until is when it passes whatever the filter says, zero while that is not
// known.
func (s *suppression) until() time.Time {
	if s.since.IsZero() || s.limit <= 0 {
		return time.Time{}
	}
	return s.since.Add(s.limit)
}

// over reports whether nothing is held back any more.
func (s *suppression) over(now time.Time) bool {
	if now.Before(s.stuck) {
		return false
	}
	until := s.until()
	return s.released || !until.IsZero() && !now.Before(until)
}

// lasts reports whether the newest answer is still one for this version: a
// deferral until its time is there, all else until the version changes.
func (s *suppression) lasts(p *v1.Pod, now time.Time) bool {
	switch {
	case !s.again.IsZero():
		return now.Before(s.again)
	case s.verdict == nil:
		return false
	}
	return sameContent(s.asked, p)
}

// due is when it is to be looked at again, zero for never.
func (s *suppression) due() time.Time {
	switch until := s.until(); {
	case s.free != nil:
		return time.Time{}
	case !s.stuck.IsZero():
		return s.stuck
	case s.released:
		return s.since
	case s.ticket != 0 || s.again.IsZero() || !until.IsZero() && until.Before(s.again):
		return until
	}
	return s.again
}

// lets reports whether the version may go on with this answer.
func (s *suppression) lets(p *v1.Pod, v *api.FilterVerdict, now time.Time) bool {
	if !v.Suppresses() {
		return sameContent(s.asked, p)
	}
	return !s.since.IsZero() && now.Sub(s.since) >= v.Limit
}

// take notes an answer.
func (s *suppression) take(v *api.FilterVerdict, now time.Time) {
	s.ticket, s.verdict, s.again, s.stuck = 0, v, time.Time{}, time.Time{}
	if !v.Suppresses() {
		return
	}
	s.limit = v.Limit
	if s.since.IsZero() {
		s.since = now
	}
	if v.Answer == api.Defer {
		s.again = now.Add(max(v.After, minDefer))
	}
}

// fail notes that the disk does not take what was to go on.
func (s *suppression) fail(err error, now time.Time) {
	s.verdict = &api.FilterVerdict{
		Answer: api.Defer, Reason: api.ReasonVerdictNotKept, At: now,
		Message: "that it may go on cannot be kept, so it does not count yet: " + err.Error(),
	}
	if s.since.IsZero() {
		s.since = now
	}
	s.stuck = now.Add(writeAgain)
	s.again = s.stuck
}

// next is when the filter is asked again or the version passes, zero for when
// it changes.
func (s *suppression) next() time.Time {
	if s.ticket != 0 {
		return s.until()
	}
	return s.due()
}

// asVerdict says of a version that is held back what a verdict would.
func (s *suppression) asVerdict() api.Verdict {
	v := s.verdict
	if v == nil {
		return api.Verdict{Answer: api.Hold, Reason: api.ReasonNotAnswered}
	}
	return api.Verdict{
		Answer: api.Hold, Reason: v.Reason, Message: v.Message, Policy: v.Policy, Sets: v.Sets, Opinions: v.Opinions, At: v.At,
	}
}

// sameContent reports whether a filter has nothing new to say of b when it has
// answered for a.
func sameContent(a, b *v1.Pod) bool {
	return a == b || a != nil && a.UID == b.UID && pod.Diff(a, b) == 0
}

// unhold ends that a filter holds something back of the slot.
func (t *merging) unhold(sl *slot) {
	s := sl.held
	if s == nil {
		return
	}
	sl.held = nil
	delete(t.store.offered, s.ticket)
	if s.kept && sl.first != nil {
		t.changed = append(t.changed, sl.first)
	}
}

// remembered is the suppression that the disk had of the slot's document. What
// counts is how long it has lasted: the clock may have been set meanwhile.
func remembered(kept *state.Suppressed, now time.Time) *suppression {
	return &suppression{
		since: now.Add(-max(now.Sub(kept.Since), 0)), limit: kept.Until.Sub(kept.Since), kept: true,
	}
}

// keptSuppression is what the disk has to know of the slot's suppression, nil
// for nothing. That a status is held back is not worth a write.
func (sl *slot) keptSuppression() *state.Suppressed {
	s, w := sl.held, sl.wait
	if s == nil || w == nil || w.entry != sl.first || w.op == api.Reconcile || s.until().IsZero() {
		return nil
	}
	kept := &state.Suppressed{Since: s.since, Until: s.until()}
	if w.passes() {
		kept.Verdict = w.verdict
	}
	return kept
}
