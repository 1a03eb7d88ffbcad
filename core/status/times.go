package status

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// past is what the runtime shows of the times of a pod that nobody has reported
// yet, as after a restart of the agent; zero where it shows none. Only what runs
// counts: what does not may be of a pod that had the UID before.
type past struct{ made, sandbox, running time.Time }

func (in *Input) past() (p past) {
	if !in.Observed.Active() {
		return p
	}
	for i := range in.Observed.Sandboxes {
		s := &in.Observed.Sandboxes[i]
		if at := s.CreatedAt; in.isPast(at) && (p.made.IsZero() || at.Before(p.made)) {
			p.made = at
		}
		if s.Ready && in.isPast(s.CreatedAt) && s.CreatedAt.After(p.sandbox) {
			p.sandbox = s.CreatedAt
		}
	}
	for i := range in.Observed.Containers {
		c := &in.Observed.Containers[i]
		if c.State == StateRunning && in.isPast(c.StartedAt) && c.StartedAt.After(p.running) {
			p.running = c.StartedAt
		}
	}
	return p
}

// isPast reports whether a time is known and not to come, as one may be after the
// clock was set back.
func (in *Input) isPast(at time.Time) bool { return !at.IsZero() && !at.After(in.Now) }

// since is when a condition became what it is, of which nothing was reported: now
// where that cannot be told.
func (p *past) since(kind v1.PodConditionType, status v1.ConditionStatus, started, now time.Time) time.Time {
	at := now
	switch {
	case p.made.IsZero() && p.running.IsZero():
	case kind == v1.PodScheduled, kind == v1.PodInitialized:
		at = started
	case status != v1.ConditionTrue:
	case kind == v1.PodReadyToStartContainers:
		at = p.sandbox
	case kind == v1.PodReady, kind == v1.ContainersReady:
		at = p.running
	}
	if at.IsZero() {
		return now
	}
	return at
}
