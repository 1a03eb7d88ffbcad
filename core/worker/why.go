package worker

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/status"
)

// What is said of a pod that cannot run in its sandbox any more. The first is a
// kubelet's.
const (
	reasonSandboxChanged = "SandboxChanged"
	messageSandboxMade   = "Pod sandbox changed, it will be killed and re-created."
	messageSandboxKilled = "Pod sandbox changed, it will be killed, and by its restart policy nothing of the pod starts again."
	messageSandboxGone   = "Pod sandbox is gone, it will be re-created."
)

// noSandbox stands for the sandbox of a pod that has none.
const noSandbox = "none"

// tellSandbox records an event where a pod loses its sandbox, once for each sandbox.
// The end of its containers, or their new start, follows from that.
func (p *Pool) tellSandbox(t turn, a *Actions, observed *status.ObservedPod, st *v1.PodStatus) {
	fault := status.SandboxFault(t.pod, observed)
	sandbox, message := noSandbox, ""
	if len(observed.Sandboxes) > 0 {
		sandbox = observed.Sandboxes[0].ID
	}
	switch {
	case fault == "":
		t.rec.lostSandbox = ""
	case a.CreateSandbox && sandbox == noSandbox && (len(t.attempts) > 0 || hasRun(st)):
		message = messageSandboxGone
	case a.CreateSandbox && sandbox != noSandbox:
		message = messageSandboxMade
	case a.Last() && observed.Running():
		message = messageSandboxKilled
	}
	if message == "" || t.rec.lostSandbox == sandbox {
		return
	}
	t.rec.lostSandbox = sandbox
	p.cfg.Events.Event(t.pod, v1.EventTypeNormal, reasonSandboxChanged, message)
}

// hasRun reports whether the status shows that a container of the pod has run.
func hasRun(st *v1.PodStatus) bool {
	for i := range st.ContainerStatuses {
		c := &st.ContainerStatuses[i]
		if c.RestartCount > 0 || c.LastTerminationState.Terminated != nil || c.State.Terminated != nil {
			return true
		}
	}
	return false
}

// why says why the pod is being ended. An event that came before may say more.
func (r *record) why() string {
	switch {
	case r.pod == nil:
		return "no source wants the pod"
	case r.failure != nil:
		return r.failure.Message
	case r.evicted:
		return "the pod was evicted"
	case r.removed:
		return "the pod's document was removed, has changed, or gave way to another"
	case r.deleted:
		return "the pod was deleted"
	}
	return "the pod has ended"
}
