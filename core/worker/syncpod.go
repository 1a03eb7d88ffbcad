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

// syncPod brings a pod that should run closer to its spec. It reports whether the pod has ended.
func (p *Pool) syncPod(ctx context.Context, it syncIteration, observed *status.ObservedPod) (ended bool, err error) {
	st := p.publish(it, observed, progress{})
	if pod.IsTerminal(st.Phase) {
		return true, nil
	}
	ctx, release := p.withDeadline(ctx, it, &st)
	defer release()
	if !it.pod.Spec.HostNetwork {
		if err := p.cfg.Runtime.NetworkReady(); err != nil {
			err = fmt.Errorf("%w: %w", errNetwork, err)
			p.warn(ctx, it.pod, "NetworkNotReady", err)
			return false, err
		}
	}
	if err := p.setUpVolumes(ctx, it.pod); err != nil {
		p.warn(ctx, it.pod, "FailedMount", err)
		if !isStale(err) {
			return false, err
		}
	}
	p.cfg.Probes.Add(it.pod)
	if p.cfg.Terminations != nil && !it.wasTerminating {
		p.cfg.Terminations.Forget(it.uid)
	}
	actions := Plan(it.pod, observed, &st, p.cfg.Hash, p.cfg.Probes.Failed)
	p.recordSandboxLoss(it, &actions, observed, &st)
	if actions.Empty() {
		return false, nil
	}
	if actions.EndsPod() && !observed.Active() {
		p.failSandboxLost(it)
		return true, nil
	}
	if (actions.KillPod || len(actions.Stop) > 0 || len(actions.Reset) > 0) && p.superseded(it) {
		return false, nil // the next iteration begins at once
	}
	tried, err := p.execute(ctx, it, &actions, observed)
	it.rec.lastChange = p.cfg.Now()
	if tried {
		// The status shows the changes without waiting for the next list.
		p.cfg.Inspector.Refresh(it.uid)
	}
	return false, err
}

// superseded reports whether a newer version of the pod has come since the iteration began.
func (p *Pool) superseded(it syncIteration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return it.rec.pod != it.pod
}

// setUpVolumes makes the directories and volumes of the pod.
func (p *Pool) setUpVolumes(ctx context.Context, about *v1.Pod) error {
	if err := p.cfg.Volumes.Setup(ctx, about); err != nil {
		return fmt.Errorf("setting up volumes: %w", err)
	}
	return p.interrupted(ctx)
}

// isStale reports whether all volumes exist and err only means that some are not up to date.
func isStale(err error) bool {
	stale, ok := errors.AsType[interface {
		error
		Stale() bool
	}](err)
	return ok && stale.Stale()
}

// The event for a pod that can no longer run in its sandbox. The reason and the first message are
// those of a kubelet.
const (
	reasonSandboxChanged = "SandboxChanged"
	messageSandboxMade   = "Pod sandbox changed, it will be killed and re-created."
	messageSandboxKilled = "Pod sandbox changed, it will be killed, and by its restart policy nothing of the pod starts again."
	messageSandboxGone   = "Pod sandbox is gone, it will be re-created."
)

// noSandbox stands for the sandbox of a pod that has none.
const noSandbox = "none"

// recordSandboxLoss records an event if a pod loses its sandbox, once for each sandbox. The events
// about its containers follow from that.
func (p *Pool) recordSandboxLoss(it syncIteration, a *Actions, observed *status.ObservedPod, st *v1.PodStatus) {
	fault := status.SandboxFault(it.pod, observed)
	sandbox, message := noSandbox, ""
	if len(observed.Sandboxes) > 0 {
		sandbox = observed.Sandboxes[0].ID
	}
	switch {
	case fault == "":
		it.rec.lostSandbox = ""
	case a.CreateSandbox && sandbox == noSandbox && (len(it.minAttempts) > 0 || hasRun(st)):
		message = messageSandboxGone
	case a.CreateSandbox && sandbox != noSandbox:
		message = messageSandboxMade
	case a.EndsPod() && observed.Running():
		message = messageSandboxKilled
	}
	if message == "" || it.rec.lostSandbox == sandbox {
		return
	}
	it.rec.lostSandbox = sandbox
	p.cfg.Events.Event(it.pod, v1.EventTypeNormal, reasonSandboxChanged, message)
}

// hasRun reports whether the status shows that a container of the pod has run.
func hasRun(st *v1.PodStatus) bool {
	for c := range pod.Statuses(st) {
		if c.RestartCount > 0 || c.LastTerminationState.Terminated != nil || c.State.Terminated != nil {
			return true
		}
	}
	return false
}

// The status of a pod that lost its sandbox before all of its containers had run, and that gets no
// other sandbox.
const (
	reasonSandboxLost  = "SandboxLost"
	messageSandboxLost = "Pod lost its sandbox before all of its containers had run, and by its restart policy nothing of it starts again until it is removed and created anew"
)

// failSandboxLost fails a pod that runs nothing and starts nothing again, although some of its
// containers never ran. A kubelet shows such a pod as pending for ever.
func (p *Pool) failSandboxLost(it syncIteration) {
	p.mu.Lock()
	if it.rec.state == Syncing {
		it.rec.failure = &status.Reason{Reason: reasonSandboxLost, Message: messageSandboxLost}
	}
	p.mu.Unlock()
	p.cfg.Events.Event(it.pod, v1.EventTypeWarning, reasonSandboxLost, messageSandboxLost)
}

// syncTerminatingPod stops all containers of a pod and its sandboxes, and confirms by an
// observation that nothing runs any more.
func (p *Pool) syncTerminatingPod(ctx context.Context, it syncIteration, observed *status.ObservedPod) error {
	p.cfg.Probes.StopLiveness(it.uid)
	p.publish(it, observed, progress{terminating: true})
	if p.cfg.Terminations != nil && observed.Running() {
		p.cfg.Terminations.Begin(it.uid, it.origin.FirstSeen, it.grace)
	}
	if err := p.killPod(ctx, it.pod, observed, it.grace, it.reason); err != nil {
		p.warn(ctx, it.pod, "FailedKillPod", err)
		return err
	}
	after, err := p.confirmStopped(ctx, it)
	if err != nil {
		return err
	}
	p.cfg.Probes.Remove(it.uid)
	p.publish(it, after, progress{terminal: true})
	return nil
}

// confirmStopped observes a pod whose containers have been stopped, and fails if one still runs.
// The next iteration can use the observation too.
func (p *Pool) confirmStopped(ctx context.Context, it syncIteration) (*status.ObservedPod, error) {
	it.rec.lastChange = p.cfg.Now()
	after, err := p.observe(ctx, it.uid, it.rec.lastChange)
	if err != nil {
		return nil, fmt.Errorf("looking at the pod after it was stopped: %w", err)
	}
	if after.Running() {
		return nil, errors.New("the runtime stopped all containers of the pod, yet shows one running")
	}
	return &after, nil
}

// syncTerminatingOrphan stops what runs of a pod that only the runtime knows, and confirms that it
// has stopped before any waiter is notified. last is the time of the previous try, zero for none.
func (p *Pool) syncTerminatingOrphan(ctx context.Context, it syncIteration, last time.Time) error {
	about := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		UID: it.uid, Name: it.observed.Name, Namespace: it.observed.Namespace,
		Annotations: map[string]string{pod.AnnotationSource: it.observed.Source()},
	}}
	if err := p.killPod(ctx, about, p.observeOrphan(ctx, it, last), it.grace, it.reason); err != nil {
		return err
	}
	_, err := p.confirmStopped(ctx, it)
	return err
}

// observeOrphan returns what runs of a pod that only the runtime knows. The first try uses the
// observation that came with the request. Later tries use a new one, because more of the pod may be
// running by then.
func (p *Pool) observeOrphan(ctx context.Context, it syncIteration, last time.Time) *status.ObservedPod {
	if last.IsZero() {
		return it.observed
	}
	if now, err := p.observe(ctx, it.uid, last); err == nil {
		return &now
	}
	return it.observed
}

// syncTerminatedPod releases the volumes and the cgroup of a stopped pod. Its dead containers, logs
// and directories stay for inspection; garbage collection removes them later.
func (p *Pool) syncTerminatedPod(ctx context.Context, it syncIteration, observed *status.ObservedPod) error {
	p.publish(it, observed, progress{terminal: true})
	if !p.Stopping(it.uid) {
		return nil // it was evicted, or the machine shut down, before it started
	}
	if err := p.cfg.Volumes.Teardown(ctx, it.uid); err != nil {
		return fmt.Errorf("tearing down volumes: %w", err)
	}
	if err := p.interrupted(ctx); err != nil {
		return err
	}
	if err := p.cfg.Cgroups.Remove(ctx, it.uid); err != nil {
		return fmt.Errorf("removing the pod's cgroup: %w", err)
	}
	if st, ok := p.cfg.Statuses.Get(it.uid); ok {
		p.saveStatus(it, status.Finish(it.pod, st))
	}
	return nil
}
