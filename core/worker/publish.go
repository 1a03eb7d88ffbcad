package worker

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// phase says how far the end of a pod is, for its status.
type phase struct {
	// terminating: nothing is started any more.
	terminating bool
	// terminal: nothing runs any more.
	terminal bool
}

// publish makes the pod's status and stores it.
func (p *Pool) publish(t turn, observed *status.ObservedPod, ph phase) v1.PodStatus {
	previous, _ := p.cfg.Statuses.Get(t.uid)
	st := status.Generate(status.Input{
		Pod:         t.pod,
		Observed:    *observed,
		Previous:    previous,
		Reasons:     p.reasons(t.pod),
		Terminating: ph.terminating,
		Terminal:    ph.terminal,
		Failure:     t.failure,
		Now:         p.cfg.Now(),
		HostIPs:     p.cfg.HostIPs,
		RuntimeName: p.cfg.RuntimeName,
	})
	if t.status != nil && (ph.terminating || ph.terminal) {
		t.status(&st)
	}
	p.store(t, st)
	return st
}

// showWaiting publishes why a pod has not begun to start.
func (p *Pool) showWaiting(rec *record, why string) {
	st := v1.PodStatus{Phase: v1.PodPending, QOSClass: pod.QOS(rec.pod)}
	for i := range rec.pod.Spec.Containers {
		c := &rec.pod.Spec.Containers[i]
		st.ContainerStatuses = append(st.ContainerStatuses, v1.ContainerStatus{
			Name: c.Name, Image: c.Image, Started: new(false),
			State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: status.ReasonWaitingForPredecessor, Message: why}},
		})
	}
	p.show(rec.pod, st)
}

// store keeps what of a status must survive a restart, and then shows it. How a pod ends
// that was removed is not kept: it would be taken for the end of one that comes back.
func (p *Pool) store(t turn, st v1.PodStatus) {
	switch {
	case p.cfg.Outcomes == nil:
	case p.goes(t.rec):
		p.cfg.Outcomes.Goes(t.pod, &st)
	default:
		p.cfg.Outcomes.Keep(t.pod, &st)
	}
	p.show(t.pod, st)
}

// goes reports whether the pod was removed, whether or not one comes back under its UID.
func (p *Pool) goes(rec *record) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return rec.removed || rec.restart
}

func (p *Pool) show(about *v1.Pod, st v1.PodStatus) {
	if _, err := p.cfg.Statuses.Set(about, st); err != nil {
		p.log.Error("status not stored", append(logPod(about, about.UID), "err", err)...)
	}
}

// reasons are why containers of the pod could not be started, by name.
func (p *Pool) reasons(about *v1.Pod) map[string]status.Reason {
	reasons := map[string]status.Reason{}
	for i := range about.Spec.Containers {
		name := about.Spec.Containers[i].Name
		if r, ok := p.cfg.Reasons.Get(about.UID, name); ok {
			reasons[name] = r
		}
	}
	return reasons
}

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
