package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// syncPod brings a pod that should run closer to it. It reports whether the
// pod has run to its end.
func (p *Pool) syncPod(ctx context.Context, t turn, observed *status.ObservedPod) (ended bool, err error) {
	st := p.publish(t, observed, phase{})
	if pod.IsTerminal(st.Phase) {
		return true, nil
	}
	ctx, release := p.limit(ctx, t, &st)
	defer release()
	if !t.pod.Spec.HostNetwork {
		if err := p.cfg.Runtime.NetworkReady(); err != nil {
			err = fmt.Errorf("%w: %w", errNetwork, err)
			p.warn(ctx, t.pod, "NetworkNotReady", err)
			return false, err
		}
	}
	if err := p.prepare(ctx, t.pod); err != nil {
		p.warn(ctx, t.pod, "FailedMount", err)
		return false, err
	}
	if p.cfg.Endings != nil && !t.inherits {
		p.cfg.Endings.Forget(t.uid)
	}
	actions := Plan(t.pod, observed, p.cfg.Hash)
	p.tellSandbox(t, &actions, observed, &st)
	if actions.Empty() {
		return false, nil
	}
	if actions.Last() && !observed.Active() {
		p.giveUp(t)
		return true, nil
	}
	tried, err := p.execute(ctx, t, &actions, observed)
	t.rec.changed = p.cfg.Now()
	if tried {
		// What was done shows in the status without waiting for the next list.
		p.cfg.Inspector.Refresh(t.uid)
	}
	return false, err
}

// prepare makes the pod's directories and volumes.
func (p *Pool) prepare(ctx context.Context, about *v1.Pod) error {
	if err := p.cfg.Volumes.Setup(ctx, about); err != nil {
		return fmt.Errorf("setting up volumes: %w", err)
	}
	return p.proceed(ctx)
}

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

// endPod stops all containers of a pod and its sandboxes, and sees with its
// own eyes that nothing runs any more.
func (p *Pool) endPod(ctx context.Context, t turn, observed *status.ObservedPod) error {
	p.publish(t, observed, phase{terminating: true})
	if p.cfg.Endings != nil && observed.Running() {
		p.cfg.Endings.Begin(t.uid, t.origin.FirstSeen, t.grace)
	}
	if err := p.killPod(ctx, t.pod, observed, t.grace, t.why); err != nil {
		p.warn(ctx, t.pod, "FailedKillPod", err)
		return err
	}
	after, err := p.ended(ctx, t)
	if err != nil {
		return err
	}
	p.publish(t, after, phase{terminal: true})
	return nil
}

// ended looks at a pod whose containers have been stopped. What it sees holds for
// the next turn as well.
func (p *Pool) ended(ctx context.Context, t turn) (*status.ObservedPod, error) {
	t.rec.changed = p.cfg.Now()
	after, err := p.observe(ctx, t.uid, t.rec.changed)
	if err != nil {
		return nil, fmt.Errorf("looking at the pod after it was stopped: %w", err)
	}
	if after.Running() {
		return nil, errors.New("the runtime stopped all containers of the pod, yet shows one running")
	}
	return &after, nil
}

// endOrphan stops what runs of a pod of which only the runtime knows. That it has
// ended is seen before anybody is told who waits for it. last is when it was tried
// last, zero for never.
func (p *Pool) endOrphan(ctx context.Context, t turn, last time.Time) error {
	about := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		UID: t.uid, Name: t.observed.Name, Namespace: t.observed.Namespace,
	}}
	if err := p.killPod(ctx, about, p.orphan(ctx, t, last), t.grace, t.why); err != nil {
		return err
	}
	_, err := p.ended(ctx, t)
	return err
}

// orphan is what there is of a pod of which only the runtime knows: as it was found
// or, when that did not do, as it is now. More of it may run by then.
func (p *Pool) orphan(ctx context.Context, t turn, last time.Time) *status.ObservedPod {
	if last.IsZero() {
		return t.observed
	}
	if now, err := p.observe(ctx, t.uid, last); err == nil {
		return &now
	}
	return t.observed
}

// cleanUp gives back what a stopped pod holds on the node. Its dead
// containers, logs and directories stay for people to look at; garbage
// collection has them later.
func (p *Pool) cleanUp(ctx context.Context, t turn, observed *status.ObservedPod) error {
	p.publish(t, observed, phase{terminal: true})
	if !p.Stopping(t.uid) {
		return nil // it was pushed out before it began
	}
	if err := p.cfg.Volumes.Teardown(ctx, t.uid); err != nil {
		return fmt.Errorf("tearing down volumes: %w", err)
	}
	if err := p.proceed(ctx); err != nil {
		return err
	}
	if err := p.cfg.Cgroups.Remove(ctx, t.uid); err != nil {
		return fmt.Errorf("removing the pod's cgroup: %w", err)
	}
	if st, ok := p.cfg.Statuses.Get(t.uid); ok {
		p.store(t, status.Finish(t.pod, st))
	}
	return nil
}
