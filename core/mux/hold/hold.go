package hold

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// minDefer is the shortest time after which the filter is asked again about a deferred version.
const minDefer = time.Second

// Hold is the state of a filter's decision about a pod's update. The zero value has not asked the
// filter yet.
type Hold struct {
	// Beside is the pod that runs on while the update waits, empty for none.
	Beside types.UID
	// Stored: Kept is on the disk.
	Stored bool

	// asked is the version of the newest question, askedAt the time of that question, ticket its
	// ticket while it is under way. verdict is the newest answer, nil before the first.
	asked   *v1.Pod
	ticket  uint64
	askedAt time.Time
	verdict *api.FilterVerdict
	// since is the time when the update was first held back, zero if it was not. It is held back
	// for at most limit from then on; limit is 0 while it is not known.
	since time.Time
	limit time.Duration
	// again is the time when the filter is asked again, zero for when the version changes.
	again time.Time
	// stuck is the time when a failed write to the disk is tried again, zero if none failed.
	stuck time.Time
	// released: the version passes whatever the filter answers.
	released bool
	// passing is the version that may pass now, nil for none.
	passing *v1.Pod
}

// Restored returns the hold that was stored on the disk. It keeps the time that the hold has
// lasted, because the clock may have been set since.
func Restored(kept *state.Suppressed, beside types.UID, now time.Time) *Hold {
	return &Hold{Beside: beside, Stored: true, since: now.Add(-max(now.Sub(kept.Since), 0)), limit: kept.Until.Sub(kept.Since)}
}

// Kept returns the hold to store on the disk, without a verdict of policy; nil for none.
func (h *Hold) Kept() *state.Suppressed {
	if h.Until().IsZero() {
		return nil
	}
	return &state.Suppressed{Since: h.since, Until: h.Until()}
}

// Step is the next step for a version.
type Step int

// The steps.
const (
	Wait Step = iota
	Ask
	Pass
)

// Next returns the next step for the newest version.
func (h *Hold) Next(p *v1.Pod, now time.Time) Step {
	switch {
	case h.passing == nil:
	case SameContent(h.passing, p):
		h.passing = p
	default: // the version that might pass was not sent for another reason, and has changed
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

// answered reports whether the newest answer still applies to this version: a deferral until its
// time has come, any other answer until the version changes.
func (h *Hold) answered(p *v1.Pod, now time.Time) bool {
	switch {
	case !h.again.IsZero():
		return now.Before(h.again)
	case h.verdict == nil:
		return false
	}
	return SameContent(h.asked, p)
}

// Question returns the ticket of the question under way, 0 for none, and the time when it was
// asked.
func (h *Hold) Question() (ticket uint64, at time.Time) { return h.ticket, h.askedAt }

// Asked records that a question about a version is under way.
func (h *Hold) Asked(ticket uint64, p *v1.Pod, now time.Time) {
	h.ticket, h.asked, h.askedAt, h.again, h.stuck = ticket, p, now, time.Time{}, time.Time{}
}

// Lets reports whether the version may pass with this answer to the question under way.
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

// Passes records that a version may pass.
func (h *Hold) Passes(p *v1.Pod) { h.passing, h.stuck = p, time.Time{} }

// IsPassing reports whether a version may pass.
func (h *Hold) IsPassing() bool { return h.passing != nil }

// Release lets the newest version pass whatever the filter answers.
func (h *Hold) Release(now time.Time) {
	h.released = true
	if h.since.IsZero() {
		h.since = now
	}
}

// Failed records that the write of a version to the disk failed. The write is tried again after the
// given time.
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

// Failure returns the error of the failed write, empty if none failed.
func (h *Hold) Failure() string {
	if h.stuck.IsZero() {
		return ""
	}
	return h.verdict.Message
}

// Renew drops the filter's answer for a version because policies now mutate it into a pod that the
// filter has not seen.
func (h *Hold) Renew() { h.asked, h.passing = nil, nil }

// Cancel drops the question under way and the newest answer because policy does not admit the
// version now.
func (h *Hold) Cancel() { h.ticket, h.verdict, h.again = 0, nil, time.Time{} }

// Until returns the time when the version passes whatever the filter answers, zero if that is not
// known.
func (h *Hold) Until() time.Time {
	if h.since.IsZero() || h.limit <= 0 {
		return time.Time{}
	}
	return h.since.Add(h.limit)
}

// Over reports whether the filter may not hold back the version any longer.
func (h *Hold) Over(now time.Time) bool {
	if now.Before(h.stuck) {
		return false
	}
	until := h.Until()
	return h.released || !until.IsZero() && !now.Before(until)
}

// Due returns the time when the version is to be looked at again, zero for never.
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

// NextAt returns the time when the filter is asked again or the version passes, zero for when the
// version changes.
func (h *Hold) NextAt() time.Time {
	if h.ticket != 0 {
		return h.Until()
	}
	return h.Due()
}

// HoldsBack reports whether the version must wait because of the filter's answer or a failed write.
func (h *Hold) HoldsBack() bool {
	if h.passing != nil || h.ticket != 0 {
		return false
	}
	return !h.stuck.IsZero() || h.verdict != nil && h.verdict.Suppresses()
}

// Verdict returns the filter's answer in the form of a verdict of policy.
func (h *Hold) Verdict() api.Verdict {
	v := h.verdict
	if v == nil {
		return api.Verdict{Answer: api.Hold, Reason: api.ReasonNotAnswered}
	}
	return api.Verdict{
		Answer: api.Hold, Reason: v.Reason, Message: v.Message, Policy: v.Policy, Sets: v.Sets, Opinions: v.Opinions, At: v.At,
	}
}

// Show sets the fields of an update, as "get updates" shows it, that say why and until when it
// waits.
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

// SameContent reports whether a filter's answer for a also applies to b.
func SameContent(a, b *v1.Pod) bool {
	return a == b || a != nil && a.UID == b.UID && pod.Diff(a, b) == 0
}
