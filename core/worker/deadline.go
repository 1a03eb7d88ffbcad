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

// left is how long the pod may go on, limited false for one that may for ever. A
// pod that has not begun to start, or is being ended, has no deadline.
func (r *record) left(now time.Time) (d time.Duration, limited bool) {
	if r.state != Syncing || !r.started || r.active.IsZero() || deadline(r.pod) == 0 {
		return 0, false
	}
	return seconds(deadline(r.pod)) - now.Sub(r.active), true
}

// expire ends a pod that has been active for as long as it may, and reports
// whether it did.
func (r *record) expire(now time.Time) bool {
	if d, limited := r.left(now); !limited || d > 0 {
		return false
	}
	r.failure = &status.Reason{Reason: reasonDeadline, Message: messageDeadline}
	r.end(now, nil)
	r.pending = true
	return true
}

// due fires when the pod has been active for as long as it may; nil for one that
// may go on for ever.
func (p *Pool) due(rec *record) <-chan time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if d, limited := rec.left(p.cfg.Now()); limited && !p.stopped {
		return time.After(d)
	}
	return nil
}

// limit ends what a turn does, also what it is about, when the pod's time is
// over. From the first time on the pod is active: st is its status, which has a
// start time.
func (p *Pool) limit(ctx context.Context, t turn, st *v1.PodStatus) (context.Context, context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	if t.rec.active.IsZero() {
		// Where an API server says when the pod was started, its clock counts.
		t.rec.active = now.Add(-max(now.Sub(st.StartTime.Time), 0))
	}
	if d, limited := t.rec.left(now); limited {
		return context.WithTimeout(ctx, d)
	}
	return ctx, func() {}
}

// deadline is for how many seconds a pod may be active, 0 for as long as it wants.
func deadline(p *v1.Pod) int64 {
	if p == nil || p.Spec.ActiveDeadlineSeconds == nil {
		return 0
	}
	return *p.Spec.ActiveDeadlineSeconds
}
