package worker

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/status"
)

// Terminations keep, across restarts of the agent, which pods are being terminated and how much of
// their grace period is left.
type Terminations interface {
	// Begin records that the containers of a pod, first seen at seen, are about to be stopped
	// within grace. The record is written soon afterwards; Begin does not block.
	Begin(uid types.UID, seen time.Time, grace time.Duration)
	// Interrupted returns the termination of a pod that an earlier agent began, false for none.
	// It does not block.
	Interrupted(uid types.UID) (Termination, bool)
	// Finish records that the termination is complete, or that the pod keeps running after all. If
	// goes is true, the record is kept until nothing is left of the pod. It does not block.
	Finish(uid types.UID, goes bool)
	// Forget deletes a termination because another pod starts under the UID. The deletion is
	// durable if the disk can be written.
	Forget(uid types.UID)
}

// Termination is a termination that an earlier agent has begun.
type Termination struct {
	// FirstSeen is when the pod was first seen.
	FirstSeen time.Time
	// Remaining is the rest of the grace period, 0 or less for none.
	Remaining time.Duration
}

// resumeWindow is the time after the start of the agent in which a termination begun by an earlier
// agent may be resumed. If no request terminates the pod in that time, the pod keeps running.
const resumeWindow = time.Minute

// RunsEarlierPod reports whether an earlier agent was terminating another pod under this UID than
// the one first seen at seen: then what the runtime shows belongs to that other pod.
func (p *Pool) RunsEarlierPod(uid types.UID, seen time.Time) bool {
	if p.cfg.Terminations == nil {
		return false
	}
	e, ok := p.cfg.Terminations.Interrupted(uid)
	return ok && !e.FirstSeen.Equal(seen)
}

// resumeTermination continues the termination of the pod if an earlier agent began it.
func (p *Pool) resumeTermination(rec *record) {
	if p.cfg.Terminations == nil {
		return
	}
	if e, ok := p.cfg.Terminations.Interrupted(rec.uid); ok && (rec.pod == nil || e.FirstSeen.Equal(rec.origin.FirstSeen)) {
		rec.resumedAt = p.cfg.Now()
		rec.terminationDeadline = rec.resumedAt.Add(e.Remaining)
	}
}

// wasTerminating reports whether an earlier agent was terminating the pod.
func (r *record) wasTerminating() bool { return !r.terminationDeadline.IsZero() }

// capGrace limits the grace period to the rest of the one that an earlier agent began. A pod that
// only the runtime knows gets exactly that rest.
func (r *record) capGrace(now time.Time) {
	if !r.wasTerminating() {
		return
	}
	remaining := max(int64(r.terminationDeadline.Sub(now)/time.Second), 1)
	if r.pod == nil {
		r.grace = remaining
	}
	r.grace = min(r.grace, remaining)
}

// gracePeriod returns the time that the containers of the pod have to stop.
func (r *record) gracePeriod() time.Duration {
	if r.pod == nil && !r.wasTerminating() {
		return orphanGrace
	}
	return seconds(r.grace)
}

// resyncDelay returns the time until the next sync of a healthy pod. If an earlier agent was
// terminating the pod and resumeWindow has passed, it forgets that termination.
func (p *Pool) resyncDelay(rec *record) time.Duration {
	if !rec.wasTerminating() {
		return p.SyncFrequency()
	}
	left := resumeWindow - p.cfg.Now().Sub(rec.resumedAt)
	if left > 0 {
		return min(left, p.SyncFrequency())
	}
	rec.terminationDeadline = time.Time{}
	p.finishTermination(rec, false)
	return p.SyncFrequency()
}

// finishTermination records that the termination of a pod is complete. goes is true if the pod will
// not come back as it was.
func (p *Pool) finishTermination(rec *record, goes bool) {
	if p.cfg.Terminations != nil {
		p.cfg.Terminations.Finish(rec.uid, goes)
	}
}

// TerminatingPod is a pod that is being terminated.
type TerminatingPod struct {
	Pod    *v1.Pod
	Origin api.Origin
	// Since is when the termination began, and Grace is its grace period in seconds.
	Since time.Time
	Grace int64
}

// TerminatingPods lists the pods that are being terminated, in no order, until their workers are
// finished. It does not list pods that only the runtime knows.
func (p *Pool) TerminatingPods() []TerminatingPod {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pods []TerminatingPod
	for _, rec := range p.records {
		if rec.pod != nil && (rec.state == Terminating || rec.state == Terminated) {
			pods = append(pods, TerminatingPod{Pod: rec.pod, Origin: rec.origin, Since: rec.terminatingAt, Grace: rec.grace})
		}
	}
	return pods
}

// The status of a pod that was active for longer than its active deadline.
const (
	reasonDeadline  = "DeadlineExceeded"
	messageDeadline = "Pod was active on the node longer than the specified deadline"
)

// remainingActive returns how long the pod may stay active. limited is false if there is no limit.
// A pod that has not started or is being terminated has no limit.
func (r *record) remainingActive(now time.Time) (d time.Duration, limited bool) {
	if r.state != Syncing || !r.started || r.activeSince.IsZero() || activeDeadline(r.pod) == 0 {
		return 0, false
	}
	return seconds(activeDeadline(r.pod)) - now.Sub(r.activeSince), true
}

// checkDeadline terminates a pod that has exceeded its active deadline, and reports whether it
// terminated the pod.
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

// withDeadline limits the calls of an iteration to the active deadline of the pod. The first call
// makes the pod active. st is its status, which has a start time.
func (p *Pool) withDeadline(ctx context.Context, it syncIteration, st *v1.PodStatus) (context.Context, context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Now()
	if it.rec.activeSince.IsZero() {
		// If an API server sets when the pod was started, its clock decides.
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
