package hold

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// minDefer is the least time after which something deferred is asked about again.
const minDefer = time.Second

// Hold is that a filter has a say in what goes on of a pod. The zero value has not asked
// yet.
type Hold struct {
	// Beside is the pod that runs on meanwhile, empty for none.
	Beside types.UID
	// Stored: the disk has Kept.
	Stored bool

	// asked is the version of the newest question, askedAt when that was, ticket that
	// question while it is under way, verdict the newest answer; nil before the first.
	asked   *v1.Pod
	ticket  uint64
	askedAt time.Time
	verdict *api.FilterVerdict
	// since is when the update was first held back, zero if it was not. It is held back for at
	// most limit from then on; limit is 0 while it is not known.
	since time.Time
	limit time.Duration
	// again is when it is asked about again, zero for when it changes.
	again time.Time
	// stuck is when something is tried again that the disk has not taken, zero
	// for nothing.
	stuck time.Time
	// released: it passes whatever the filter says.
	released bool
	// passing is the version that may go on now.
	passing *v1.Pod
}

// Restored is the hold that the disk has. What counts is how long it has lasted: the
// clock may have been set meanwhile.
func Restored(kept *state.Suppressed, beside types.UID, now time.Time) *Hold {
	return &Hold{Beside: beside, Stored: true, since: now.Add(-max(now.Sub(kept.Since), 0)), limit: kept.Until.Sub(kept.Since)}
}

// Kept is what the disk is to have of the hold, without a verdict of policy; nil for
// nothing.
func (h *Hold) Kept() *state.Suppressed {
	if h.Until().IsZero() {
		return nil
	}
	return &state.Suppressed{Since: h.since, Until: h.Until()}
}

// Step is what is to happen to a version.
type Step int

// The steps.
const (
	Wait Step = iota
	Ask
	Pass
)

// Next says what is to happen to the newest version.
func (h *Hold) Next(p *v1.Pod, now time.Time) Step {
	switch {
	case h.passing == nil:
	case SameContent(h.passing, p):
		h.passing = p
	default: // it could not go on for another reason, and has changed
		h.passing, h.released = nil, false
	}
	switch {
	case h.passing != nil:
		return Pass
	case h.ticket == 0 && !h.Over(now) && !h.answered(p, now):
		return Ask
	}
	return Wait
}

// answered reports whether the newest answer is still one for this version: a
// deferral until its time is there, all else until the version changes.
func (h *Hold) answered(p *v1.Pod, now time.Time) bool {
	switch {
	case !h.again.IsZero():
		return now.Before(h.again)
	case h.verdict == nil:
		return false
	}
	return SameContent(h.asked, p)
}

// Question is the ticket of the question under way, 0 for none, and when it was asked.
func (h *Hold) Question() (ticket uint64, at time.Time) { return h.ticket, h.askedAt }

// Asked records that a question about a version is under way.
func (h *Hold) Asked(ticket uint64, p *v1.Pod, now time.Time) {
	h.ticket, h.asked, h.askedAt, h.again, h.stuck = ticket, p, now, time.Time{}, time.Time{}
}

// Lets reports whether the version may go on with this answer to the question under way.
func (h *Hold) Lets(p *v1.Pod, v *api.FilterVerdict, now time.Time) bool {
	if !v.Suppresses() {
		return SameContent(h.asked, p)
	}
	return !h.since.IsZero() && now.Sub(h.since) >= v.Limit
}

// Answered records the answer to the question under way.
func (h *Hold) Answered(v *api.FilterVerdict, now time.Time) {
	h.ticket, h.verdict, h.again, h.stuck = 0, v, time.Time{}, time.Time{}
	if !v.Suppresses() {
		return
	}
	h.limit = v.Limit
	if h.since.IsZero() {
		h.since = now
	}
	if v.Answer == api.Defer {
		h.again = now.Add(max(v.After, minDefer))
	}
}

// Passes records that a version may go on.
func (h *Hold) Passes(p *v1.Pod) { h.passing, h.stuck = p, time.Time{} }

// IsPassing reports whether a version may go on.
func (h *Hold) IsPassing() bool { return h.passing != nil }

// Release lets the newest version pass whatever the filter says.
func (h *Hold) Release(now time.Time) {
	h.released = true
	if h.since.IsZero() {
		h.since = now
	}
}

// Failed records that the disk does not take what was to go on. That is tried again after
// some time.
func (h *Hold) Failed(err error, now time.Time, after time.Duration) {
	h.verdict = &api.FilterVerdict{
		Answer: api.Defer, Reason: api.ReasonVerdictNotKept, At: now,
		Message: "that it may go on cannot be kept, so it does not count yet: " + err.Error(),
	}
	if h.since.IsZero() {
		h.since = now
	}
	h.stuck = now.Add(after)
	h.again = h.stuck
}

// Failure is why the disk has not taken what was to go on, empty where nothing failed.
func (h *Hold) Failure() string {
	if h.stuck.IsZero() {
		return ""
	}
	return h.verdict.Message
}

// Renew drops what the filter has said of a version, as policies make another pod of it
// that the filter has not seen.
func (h *Hold) Renew() { h.asked, h.passing = nil, nil }

// Cancel drops the question under way and the newest answer: policy comes first.
func (h *Hold) Cancel() { h.ticket, h.verdict, h.again = 0, nil, time.Time{} }

// Until is when the version passes whatever the filter says, zero while that is not
// known.
func (h *Hold) Until() time.Time {
	if h.since.IsZero() || h.limit <= 0 {
		return time.Time{}
	}
	return h.since.Add(h.limit)
}

// Over reports whether nothing is held back any more.
func (h *Hold) Over(now time.Time) bool {
	if now.Before(h.stuck) {
		return false
	}
	until := h.Until()
	return h.released || !until.IsZero() && !now.Before(until)
}

// Due is when the version is to be looked at again, zero for never.
func (h *Hold) Due() time.Time {
	switch until := h.Until(); {
	case h.passing != nil:
		return time.Time{}
	case !h.stuck.IsZero():
		return h.stuck
	case h.released:
		return h.since
	case h.ticket != 0 || h.again.IsZero() || !until.IsZero() && until.Before(h.again):
		return until
	}
	return h.again
}

// NextAt is when the filter is asked again or the version passes, zero for when
// it changes.
func (h *Hold) NextAt() time.Time {
	if h.ticket != 0 {
		return h.Until()
	}
	return h.Due()
}

// HoldsBack reports whether the filter, or a disk that fails, has said that the version
// has to wait.
func (h *Hold) HoldsBack() bool {
	if h.passing != nil || h.ticket != 0 {
		return false
	}
	return !h.stuck.IsZero() || h.verdict != nil && h.verdict.Suppresses()
}

// Verdict says of a version that is held back what a verdict of policy would.
func (h *Hold) Verdict() api.Verdict {
	v := h.verdict
	if v == nil {
		return api.Verdict{Answer: api.Hold, Reason: api.ReasonNotAnswered}
	}
	return api.Verdict{
		Answer: api.Hold, Reason: v.Reason, Message: v.Message, Policy: v.Policy, Sets: v.Sets, Opinions: v.Opinions, At: v.At,
	}
}

// Show completes an update, as "get updates" shows it, with why and until when it waits.
func (h *Hold) Show(u *api.WaitingUpdate) {
	u.Wait, u.Reason, u.Since, u.Again, u.Until = api.WaitAsked, api.ReasonNotAnswered, h.since, h.again, h.Until()
	v := h.verdict
	if v == nil || !v.Suppresses() && h.stuck.IsZero() {
		return
	}
	u.Policy, u.Reason, u.Message = v.Policy, v.Reason, v.Message
	switch v.Answer {
	case api.Defer:
		u.Wait = api.WaitDeferred
	case api.Drop:
		u.Wait = api.WaitDropped
	}
}

// SameContent reports whether a filter has nothing new to say of b when it has
// answered for a.
func SameContent(a, b *v1.Pod) bool {
	return a == b || a != nil && a.UID == b.UID && pod.Diff(a, b) == 0
}
