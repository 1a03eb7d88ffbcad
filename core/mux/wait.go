package mux

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// verdictDelays is how long a held version waits for its next verdict, unless the verdict
// names a time.
var verdictDelays = backoff.Exponential{Min: 10 * time.Second, Max: 5 * time.Minute}

// A time that a verdict names is taken between minNamedRetry and maxNamedRetry.
const (
	minNamedRetry = time.Second
	maxNamedRetry = 10 * time.Minute
)

// wait is a version that is parked between merge and output: it has no verdict
// yet, or one that does not let it pass, or a filter holds it back.
type wait struct {
	slot *slot
	// entry and pod are the version that waits.
	entry *entry
	pod   *v1.Pod
	op    api.Op
	// judged: policy is asked, not only a filter. instance is what it knows the
	// version by, empty where it is not asked.
	judged   bool
	instance string
	// base is what a contest's answer has made of the version before it is judged,
	// nil for nothing. unbased: that answer is still to come, and no question is
	// asked before.
	base    *pod.Mutation
	unbased bool
	// from is the slot whose pod runs until this one passes, nil for none, old
	// that pod. With UpdateOp from is the slot itself.
	from *slot
	old  *v1.Pod
	// seq numbers the waits in the order they began, ticket the question under
	// way, 0 for none.
	seq, ticket uint64
	// askedAt is when the newest question was asked, or would have been if it were
	// not unbased.
	askedAt time.Time
	// verdict is the newest one, nil before the first.
	verdict *api.Verdict
	// stored: the disk has the verdict, as if the version had passed.
	stored bool
	// told is the UID the wait was announced under, empty if it was not.
	told types.UID
	// stale: something new was said of it, or it is newer than what was
	// announced, while a filter holds it back.
	stale    bool
	attempts int
	// since is when the pod was first seen, known since when there is one of its UID,
	// for display: what is judged again is seen anew.
	since   time.Time
	known   time.Time
	retryAt time.Time
	// retry is the place among the retries, counted from 1, 0 for none.
	retry int
}

// running is the pod that runs on while this one waits, as the sync loop has it;
// nil if none does.
func (w *wait) running() *v1.Pod {
	if w.from == nil || w.from.sent == nil || w.from.sent.denied() || w.from.sent.pod.UID != w.old.UID {
		return nil
	}
	return w.from.sent.final
}

// passes reports whether the verdict lets the version go on to the sync loop.
// One that is denied goes on too where nothing runs, so that its rejection is
// reported.
func (w *wait) passes() bool {
	if w.verdict == nil {
		return !w.judged
	}
	return w.verdict.Answer == api.Allow || w.verdict.Answer == api.Deny && w.running() == nil
}

// refused reports whether policy keeps the version from taking the place of
// another pod that runs. A disk that does not take the verdict is no policy.
func (w *wait) refused() bool {
	return w.stops() && w.verdict != nil && w.verdict.Answer != api.Allow &&
		w.verdict.Reason != api.ReasonVerdictNotKept && w.running() != nil
}

// stops reports whether the version is a newer one of the document of the pod
// that runs, for which a kubelet would end that pod in any case. A pod of
// another source gives way only to a version that is admitted.
func (w *wait) stops() bool {
	return w.op == api.Add && (w.from == nil || w.from.source == w.slot.source)
}

// question is what the gate is asked.
func (w *wait) question() api.Question {
	q := api.Question{Op: w.op, Pod: w.base.Of(w.pod), Old: w.running(), Origin: w.origin(), Base: w.base}
	if q.Old != nil && q.Old.UID != w.pod.UID {
		q.Replaces = q.Old.UID
	}
	return q
}

func (w *wait) origin() api.Origin { return origin(w.slot, w.entry, w.since) }

// take notes a verdict and when the next one is due.
func (w *wait) take(v *api.Verdict, now time.Time, jitter func(time.Duration) time.Duration) {
	w.ticket, w.verdict, w.retryAt = 0, v, time.Time{}
	if v.Answer != api.Hold {
		return
	}
	delay := verdictDelays.Delay(w.attempts)
	if v.RetryAfter > 0 {
		delay = min(max(v.RetryAfter, minNamedRetry), maxNamedRetry)
	}
	w.attempts++
	w.retryAt = now.Add(jitter(delay))
}

// record is what the disk must hold when the version passes with this verdict.
func (w *wait) record(v *api.Verdict) state.Record {
	from := w.origin()
	if w.op == api.UpdateOp {
		from.FirstSeen = w.slot.sent.origin.FirstSeen
	}
	decided := &state.Decided{Origin: from, Verdict: v, After: w.slot.follows}
	if old := w.running(); old != nil && w.op == api.Add {
		decided.After = old.UID
	} else if w.op == api.UpdateOp {
		decided.After = w.slot.sent.after
	}
	return state.Record{
		Source: from.Source, ID: w.entry.id, Version: w.entry.podVersion, Pod: w.pod, FirstSeen: from.FirstSeen,
		Runs: true, Decided: decided,
	}
}

// waiting returns the wait as it is announced and shown.
func (w *wait) waiting() api.Waiting {
	if s := w.suppressed(); s != nil {
		return api.Waiting{
			Pod: w.pod, Running: w.running(), Origin: w.origin(),
			Verdict: s.asVerdict(), RetryAt: s.next(), Suppressed: true, Until: s.until(),
		}
	}
	return api.Waiting{
		Pod: w.pod, Running: w.running(), Origin: w.origin(),
		Verdict: *w.verdict, RetryAt: w.retryAt,
	}
}

// shownAs is the UID whose status shows the wait.
func (w *wait) shownAs() types.UID {
	if running := w.running(); running != nil {
		return running.UID
	}
	return w.pod.UID
}

// ownStatus reports whether the wait was announced under the waiting pod's own
// UID, of which nothing runs.
func (w *wait) ownStatus() bool { return w.told == w.pod.UID && w.op == api.Add }
