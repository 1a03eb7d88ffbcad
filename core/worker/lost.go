package worker

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/status"
)

// What a pod says that lost its sandbox half-way, and gets no other.
const (
	reasonSandboxLost  = "SandboxLost"
	messageSandboxLost = "Pod lost its sandbox before all of its containers had run, and by its restart policy nothing of it starts again until it is removed and created anew"
)

// giveUp has a pod fail of which nothing runs and nothing will ever start,
// although what its containers show is no end: some were never made, or never
// started. A kubelet shows such a pod as pending for ever.
func (p *Pool) giveUp(t turn) {
	p.mu.Lock()
	if t.rec.state == Syncing {
		t.rec.failure = &status.Reason{Reason: reasonSandboxLost, Message: messageSandboxLost}
	}
	p.mu.Unlock()
	p.cfg.Events.Event(t.pod, v1.EventTypeWarning, reasonSandboxLost, messageSandboxLost)
}
