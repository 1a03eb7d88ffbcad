package worker

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// Outcomes keep how pods ended, and how often their containers were restarted,
// over restarts of the agent. What a pod's worker has kept goes when Gone says
// that the pod is gone.
type Outcomes interface {
	// Keep takes a status that is about to be published. How a pod ended is
	// durable when it returns.
	Keep(p *v1.Pod, st *v1.PodStatus)
	// Goes tells how a pod is that was removed and is being ended: nothing of that is
	// kept. It does not block.
	Goes(p *v1.Pod, st *v1.PodStatus)
	// Kept gives the status.Outcome of the pod from before the agent started,
	// false if there is none. It does not block.
	Kept(p *v1.Pod) (v1.PodStatus, bool)
}

// activeBefore is for how long the pod was active before the agent started.
func (p *Pool) activeBefore(about *v1.Pod, started time.Time) time.Duration {
	if p.cfg.ActiveFor != nil {
		return max(p.cfg.ActiveFor(about), 0)
	}
	return max(p.cfg.Now().Sub(started), 0)
}

// resume takes up what was kept of the pod before the agent started: its status
// goes on from there, and so do the numbers of its containers. One that had
// ended has ended.
func (p *Pool) resume(rec *record) {
	if p.cfg.Outcomes == nil || rec.pod == nil {
		return
	}
	kept, ok := p.cfg.Outcomes.Kept(rec.pod)
	if !ok {
		return
	}
	rec.ended = pod.IsTerminal(kept.Phase)
	if kept.Phase == v1.PodFailed && kept.Reason != "" {
		rec.failure = &status.Reason{Reason: kept.Reason, Message: kept.Message}
	}
	if !kept.StartTime.IsZero() {
		rec.active = p.cfg.Now().Add(-p.activeBefore(rec.pod, kept.StartTime.Time))
	}
	rec.attempts = map[string]uint32{}
	for i := range kept.ContainerStatuses {
		c := &kept.ContainerStatuses[i]
		rec.attempts[c.Name] = uint32(c.RestartCount) + 1
	}
	p.show(rec.pod, status.Resume(rec.pod, &kept))
}
