package simulation

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// mayBegin checks that what is asked for may be made of a pod: policy has let this
// version pass, and the pod is not being deleted. mu is held.
func (w *world) mayBegin(ctx context.Context, l *link, p *v1.Pod) {
	if l.dead || ctx.Err() != nil {
		return
	}
	if instance := instanceOf(p); w.set.gated && !w.policy.allowed[instance] {
		w.violated("pod %s starts as %s, which policy never let pass; it said %q", p.UID, instance, w.policy.answers[instance].Answer)
	}
	if p.DeletionTimestamp != nil {
		w.violated("something of pod %s is started, which is being deleted", p.UID)
	}
}

// mayStart checks that a container is not started that runs, that has ended for good,
// or whose pod has to wait. mu is held.
func (w *world) mayStart(ctx context.Context, l *link, run *pod.ContainerRun, predecessorEnds bool) {
	if l.dead || ctx.Err() != nil {
		return
	}
	uid, name := run.Pod.UID, run.Container.Name
	for _, c := range w.runtime.group(uid).containers {
		if c.name == name && c.running() && c.known == l {
			w.violated("container %s of pod %s is started again though the agent knows that %v runs", name, uid, c)
		}
	}
	if e, ok := w.subject(uid).ended[name]; ok && e.hash == hash(run.Container) && !w.lapsed(uid, e.lapses) && !runsInNewSandbox(run, e) {
		w.violated("container %s of pod %s is started again though it ended with %d and its policy is %s", name, uid, e.code, policyOf(run.Pod, run.Container))
	}
	w.mayTakeTurn(l, run)
	if before := l.after[uid]; before != "" && predecessorEnds && w.runtime.group(before).running() {
		w.violated("pod %s starts before pod %s has ended, whose place it takes", uid, before)
	}
}

// runsInNewSandbox reports whether a container that ended for good is started in a newer sandbox. As with a kubelet its own
// policy keeps it from that only if it is OnFailure and the container succeeded; the pod's policy may not be Never.
func runsInNewSandbox(run *pod.ContainerRun, e ended) bool {
	return run.SandboxID != e.sandbox && run.Pod.Spec.RestartPolicy != v1.RestartPolicyNever &&
		(e.code != 0 || policyOf(run.Pod, run.Container) != v1.RestartPolicyOnFailure)
}

// predecessor is the pod whose place this one takes, empty for none.
func (w *world) predecessor(l *link, uid types.UID) types.UID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return l.after[uid]
}

// startsAlone checks, when a container begins to run, that no other instance of it
// does, nor another static pod of its name. mu is held.
func (w *world) startsAlone(c *container) {
	for _, o := range w.runtime.group(c.uid).containers {
		if o != c && o.name == c.name && o.running() {
			w.violated("container %s runs twice: as %v and as %v", c.name, o, c)
		}
	}
	if c.fullName == "" {
		return
	}
	for _, o := range w.runtime.containers {
		if o.uid != c.uid && o.fullName == c.fullName && o.running() {
			w.violated("two static pods of the name %s run at once: %s and %s", c.fullName, o.uid, c.uid)
		}
	}
}
