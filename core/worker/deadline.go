package worker

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/status"
)

// What a pod says that was active for longer than it may be.
const (
	reasonDeadline  = "DeadlineExceeded"
	messageDeadline = "Pod was active on the node longer than the specified deadline"
)

// remainingActive returns how long the pod may stay active; limited is false for no limit. A
// pod that has not started, or is being terminated, has no limit.
func (r *record) remainingActive(now time.Time) (d time.Duration, limited bool) {
	if r.state != Syncing || !r.started || r.activeSince.IsZero() || activeDeadline(r.pod) == 0 {
		return 0, false
	}
	return seconds(activeDeadline(r.pod)) - now.Sub(r.activeSince), true
}

// checkDeadline terminates a pod that has exceeded its active deadline, and reports whether it
// did.
func (r *record) checkDeadline(now time.Time) bool {
	if d, limited := r.remainingActive(now); !limited || d > 0 {
		return false
	}
	r.failure = &status.Reason{Reason: reasonDeadline, Message: messageDeadline}
	r.terminate(now, nil)
	r.pending = true
	return true
}

// deadlineTimer returns a channel that fires at the active deadline of the pod, nil for none.
func (p *Pool) deadlineTimer(rec *record) <-chan time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d, limited := rec.remainingActive(p.cfg.Now()); limited && !p.stopped {
		return time.After(d)
	}
	return nil
}

// withDeadline bounds the calls of an iteration by the active deadline of the pod. The first
// call makes the pod active: st is its status, which has a start time.
func (p *Pool) withDeadline(ctx context.Context, it syncIteration, st *v1.PodStatus) (context.Context, context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	if it.rec.activeSince.IsZero() {
		// Where an API server says when the pod was started, its clock counts.
		it.rec.activeSince = now.Add(-max(now.Sub(st.StartTime.Time), 0))
	}
	if d, limited := it.rec.remainingActive(now); limited {
		return context.WithTimeout(ctx, d)
	}
	return ctx, func() {}
}

// activeDeadline returns activeDeadlineSeconds of a pod, 0 for no limit.
func activeDeadline(p *v1.Pod) int64 {
	if p == nil || p.Spec.ActiveDeadlineSeconds == nil {
		return 0
	}
	return *p.Spec.ActiveDeadlineSeconds
}
