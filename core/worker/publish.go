package worker

import (
	v1 "k8s.io/api/core/v1"

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

func (p *Pool) store(t turn, st v1.PodStatus) {
	if _, err := p.cfg.Statuses.Set(t.pod, st); err != nil {
		p.log.Error("status not stored", append(logPod(t.pod, t.uid), "err", err)...)
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
