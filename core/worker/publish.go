package worker

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// progress is how far the termination of a pod has come, for its status. The zero value means that
// the pod is not terminating.
type progress struct {
	// terminating: no container is started any more.
	terminating bool
	// terminal: nothing runs any more.
	terminal bool
}

// publish generates the status of the pod and saves it.
func (p *Pool) publish(it syncIteration, observed *status.ObservedPod, ph progress) v1.PodStatus {
	previous, _ := p.cfg.Statuses.Get(it.uid)
	var hostIPs []string
	if p.cfg.HostIPs != nil {
		hostIPs = p.cfg.HostIPs()
	}
	recursive := false
	for c := range pod.Containers(it.pod) {
		recursive = recursive || p.cfg.RecursiveReadOnly != nil && pod.AsksRecursiveReadOnly(c) && p.cfg.RecursiveReadOnly(it.pod)
	}
	for {
		// If a probe result changes after it was read and before the status is stored, generate the
		// status again.
		results := p.cfg.Probes.Changes()
		st := status.Generate(status.Input{
			Pod:         it.pod,
			Observed:    *observed,
			Previous:    previous,
			Reasons:     p.waitingReasons(it.pod),
			Probes:      p.cfg.Probes,
			Terminating: ph.terminating,
			Terminal:    ph.terminal,
			Failure:     it.failure,
			Now:         p.cfg.Now(),
			HostIPs:     hostIPs,

			RecursiveReadOnly: recursive,
			RuntimeName:       p.cfg.RuntimeName,
		})
		if it.statusFunc != nil && (ph.terminating || ph.terminal) {
			it.statusFunc(&st)
		}
		p.saveStatus(it, st)
		if p.cfg.Probes.Changes() == results {
			return st
		}
	}
}

// publishWaiting publishes why a pod has not started yet.
func (p *Pool) publishWaiting(rec *record, why string) {
	st := v1.PodStatus{Phase: v1.PodPending, QOSClass: pod.QOS(rec.pod)}
	for c, kind := range pod.Containers(rec.pod) {
		list := pod.StatusList(&st, kind)
		*list = append(*list, v1.ContainerStatus{
			Name: c.Name, Image: c.Image, Started: new(false),
			State: v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: api.ReasonWaitingForPredecessor, Message: why}},
		})
	}
	p.setStatus(rec.pod, st)
}

// saveStatus saves the part of a status that must survive a restart, then sets the status. The
// outcome of a removed pod is not saved: it would be taken for the outcome of a pod that is created
// again. Neither is that of a static pod that ends because the machine shuts down.
func (p *Pool) saveStatus(it syncIteration, st v1.PodStatus) {
	switch {
	case p.cfg.Outcomes == nil:
	case p.isForgotten(it.rec):
		p.cfg.Outcomes.Discard(it.pod, &st)
	default:
		p.cfg.Outcomes.Save(it.pod, &st)
	}
	p.setStatus(it.pod, st)
}

// isForgotten reports whether the outcome of the pod is not saved: it was removed, even if it is
// created again under its UID, or it runs again after the shutdown of the machine that ends it.
func (p *Pool) isForgotten(rec *record) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return rec.removed || rec.restartRequested || rec.nodeShutdown && rec.pod != nil && pod.IsStatic(rec.pod)
}

func (p *Pool) setStatus(about *v1.Pod, st v1.PodStatus) {
	changed, err := p.cfg.Statuses.Set(about, st)
	if err != nil {
		p.log.Error("status not stored", append(logPod(about, about.UID), "err", err)...)
	}
	if changed {
		p.cfg.Probes.Nudge(about.UID)
	}
}

// waitingReasons returns why containers of the pod could not be started, by name.
func (p *Pool) waitingReasons(about *v1.Pod) map[string]status.Reason {
	reasons := map[string]status.Reason{}
	for c := range pod.Containers(about) {
		if r, ok := p.cfg.Reasons.Get(about.UID, c.Name); ok {
			reasons[c.Name] = r
		}
	}
	return reasons
}

// Outcomes keep, across restarts of the agent, how pods ended and how often their containers were
// restarted. What a pod's worker has saved is deleted when OnRemoved is called for the pod.
type Outcomes interface {
	// Save records a status that is about to be published. When it returns, the outcome of a pod
	// that has ended is durable.
	Save(p *v1.Pod, st *v1.PodStatus)
	// Discard is called instead of Save for a pod that is being terminated because it was removed, and
	// for a static pod because the machine shuts down: its outcome is not recorded. It does not block.
	Discard(p *v1.Pod, st *v1.PodStatus)
	// Saved returns the status.Outcome of the pod from before the agent started, false if there
	// is none. It does not block.
	Saved(p *v1.Pod) (v1.PodStatus, bool)
}

// activeBefore returns how long the pod was active before the agent started.
func (p *Pool) activeBefore(about *v1.Pod, started time.Time) time.Duration {
	if p.cfg.ActiveFor != nil {
		return max(p.cfg.ActiveFor(about), 0)
	}
	return max(p.cfg.Now().Sub(started), 0)
}

// resumeOutcome restores what an earlier agent saved about the pod: its status, the attempts of its
// containers and, if the pod has ended, its outcome.
func (p *Pool) resumeOutcome(rec *record) {
	if p.cfg.Outcomes == nil || rec.pod == nil {
		return
	}
	kept, ok := p.cfg.Outcomes.Saved(rec.pod)
	if !ok {
		return
	}
	rec.terminalAtStart = pod.IsTerminal(kept.Phase)
	if kept.Phase == v1.PodFailed && kept.Reason != "" {
		rec.failure = &status.Reason{Reason: kept.Reason, Message: kept.Message}
	}
	if !kept.StartTime.IsZero() {
		rec.activeSince = p.cfg.Now().Add(-p.activeBefore(rec.pod, kept.StartTime.Time))
	}
	rec.minAttempts = map[string]uint32{}
	for c := range pod.Statuses(&kept) {
		rec.minAttempts[c.Name] = uint32(c.RestartCount) + 1
	}
	p.setStatus(rec.pod, status.Resume(rec.pod, &kept))
}
