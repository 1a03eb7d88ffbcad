package worker

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/handler"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// planInit plans the starts and stops of the init containers of a pod, including sidecars. It
// reports whether the regular containers may run. If an init container has failed for good, why
// says why the pod has to be terminated.
//
// The last init container that was made in the pod's sandbox shows how far the pod has come: the
// init containers before it have completed, even if their instances are gone. Of those before it,
// only sidecars are checked, and restarted if they have exited.
func (a *Actions) planInit(of *initPlan) (initialized bool, why string) {
	p, observed := of.pod, of.observed
	all := p.Spec.InitContainers
	if len(all) == 0 {
		return true, ""
	}
	initialized = a.regularMade(p, observed)
	var start []string
	for i, reached := len(all)-1, initialized; i >= -1; i-- {
		if i < 0 {
			if !reached {
				start = append(start, all[0].Name)
			}
			break
		}
		c, newest := &all[i], a.newest(observed, all[i].Name)
		sidecar := pod.IsSidecar(c)
		switch {
		case newest == nil && (!sidecar || !reached), newest != nil && reached && !sidecar:
			continue
		case newest == nil:
			start = append(start, c.Name)
			continue
		}
		step := a.planOne(of, c, newest)
		switch {
		case step == initFailed:
			return false, "init container " + c.Name + " has failed, and does not start again"
		case step == initAgain:
			start = append(start, c.Name)
		case step == initDone && !reached && i == len(all)-1:
			initialized = true
		case step == initDone && !reached:
			start = append(start, all[i+1].Name)
		}
		reached = true
	}
	if p.DeletionTimestamp == nil {
		slices.Reverse(start)
		a.Start = append(a.Start, start...)
	}
	return initialized, ""
}

// initPlan holds the input of planInit; see Plan.
type initPlan struct {
	pod      *v1.Pod
	observed *status.ObservedPod
	status   *v1.PodStatus
	hash     func(*v1.Container) string
	failed   func(id string) string
}

// hasStarted reports whether the status shows a sidecar as started.
func (of *initPlan) hasStarted(c *v1.Container) bool {
	st := pod.ContainerStatus(of.status, c.Name)
	return st != nil && st.Started != nil && *st.Started
}

// initStep is the next step for an init container, from the state of its newest instance.
type initStep int

const (
	// initWaits: the instance is still running.
	initWaits initStep = iota
	// initDone: the next one may start.
	initDone
	// initAgain: the container has to start again.
	initAgain
	// initFailed: the container has failed and may not start again.
	initFailed
)

func (a *Actions) planOne(of *initPlan, c *v1.Container, newest *status.ObservedContainer) initStep {
	sidecar := pod.IsSidecar(c)
	failed := newest.State == status.StateUnknown || newest.ExitCode != 0 || newest.Reason == reasonOOMKilled
	switch {
	case newest.State == status.StateCreated:
		return initAgain
	case newest.State == status.StateRunning && !sidecar:
		return initWaits
	case newest.State == status.StateRunning && changed(c, newest, of.hash):
		a.stop(newest, "Init container "+c.Name+" definition changed, will be restarted")
		return initAgain
	case newest.State == status.StateRunning && of.failed(newest.ID) != "":
		why := of.failed(newest.ID)
		a.stopFailed(c, newest, why, "Init container "+c.Name+" "+why+", will be restarted")
		return initAgain
	case newest.State == status.StateRunning && c.StartupProbe != nil && !of.hasStarted(c):
		return initWaits
	case newest.State == status.StateRunning:
		return initDone
	case !sidecar && !failed:
		return initDone
	case !sidecar && !status.Restartable(of.pod, c, max(newest.ExitCode, 1)):
		return initFailed
	}
	a.stopUnknown(newest)
	return initAgain
}

// reasonOOMKilled is the runtime's reason for a container that was killed for its use of memory.
// The exit code may be 0.
const reasonOOMKilled = "OOMKilled"

// regularMade reports whether a regular container is created or running in the pod's sandbox: then
// the init containers have completed. An exited regular container proves nothing: after a restart
// of the node all have exited.
func (a *Actions) regularMade(p *v1.Pod, observed *status.ObservedPod) bool {
	for i := range p.Spec.Containers {
		newest := a.newest(observed, p.Spec.Containers[i].Name)
		if newest != nil && (newest.State == status.StateCreated || newest.State == status.StateRunning) {
			return true
		}
	}
	return false
}

// newest returns the newest instance of a container in the sandbox that is kept, nil for none.
func (a *Actions) newest(observed *status.ObservedPod, name string) *status.ObservedContainer {
	if c := observed.Newest(name); c != nil && c.SandboxID == a.Sandbox.ID {
		return c
	}
	return nil
}

// slowHook is how long a postStart hook may run before an event is recorded.
const slowHook = time.Minute

// Hooks run lifecycle hooks; see handler.Runner.
type Hooks interface {
	Hook(ctx context.Context, to handler.Target, hook *v1.LifecycleHandler) error
}

// postStart runs the postStart hook of a container that has just started. If the hook fails,
// postStart stops the container.
func (p *Pool) postStart(ctx context.Context, it syncIteration, run *pod.ContainerRun, id string) error {
	c := run.Container
	if c.Lifecycle == nil || c.Lifecycle.PostStart == nil {
		return nil
	}
	slow := time.AfterFunc(slowHook, func() {
		status.ContainerEvent(p.cfg.Events, it.pod, c.Name, v1.EventTypeWarning, "SlowPostStartHook", fmt.Sprintf("PostStartHook has run for %s: "+
			"until it ends, container %s does not count as started, and none after it starts; if it hangs, mend it and make the pod anew", slowHook, c.Name))
	})
	err := p.cfg.Hooks.Hook(ctx, handler.Target{Container: c, ID: id, IP: p.address(it.uid, run.SandboxIPs)}, c.Lifecycle.PostStart)
	slow.Stop()
	if err == nil {
		return nil
	}
	if interrupted := p.interrupted(ctx); interrupted != nil {
		return interrupted
	}
	status.ContainerEvent(p.cfg.Events, it.pod, c.Name, v1.EventTypeWarning, "FailedPostStartHook", "PostStartHook failed: "+err.Error())
	stop := []StopContainer{{ID: id, Name: c.Name, Message: "FailedPostStartHook"}}
	if stopErr := p.stopContainers(ctx, it.pod, stop, restartGrace(it.pod)); stopErr != nil {
		return stopErr
	}
	return &status.Fault{Reason: "PostStartHookError", Err: err}
}

// preStop runs the preStop hook of a container within its grace period, and returns the rest of the
// grace period. If the hook fails, the container is stopped nevertheless.
func (p *Pool) preStop(ctx context.Context, about *v1.Pod, s *StopContainer, grace time.Duration) time.Duration {
	c, err := p.definition(about, s)
	if err != nil {
		status.ContainerEvent(p.cfg.Events, about, s.Name, v1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed: "+err.Error())
	}
	if c == nil || c.Lifecycle == nil || c.Lifecycle.PreStop == nil || grace <= 0 {
		return grace
	}
	began := p.cfg.Now()
	within, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	to := handler.Target{Container: c, ID: s.ID}
	if c.Lifecycle.PreStop.HTTPGet != nil {
		to.IP = p.runtimeAddress(within, about.UID)
	}
	if err := p.cfg.Hooks.Hook(within, to, c.Lifecycle.PreStop); err != nil && ctx.Err() == nil {
		if within.Err() != nil {
			err = fmt.Errorf("it has not ended within the grace period of %s", grace)
		}
		status.ContainerEvent(p.cfg.Events, about, s.Name, v1.EventTypeWarning, "FailedPreStopHook", "PreStopHook failed: "+err.Error())
	}
	return max(grace-p.cfg.Now().Sub(began).Truncate(time.Second), fallbackGrace)
}

// definition returns the definition of a container from the pod's spec. If the spec does not
// contain the container, or only the runtime knows the pod, it restores the definition from the
// container's annotations.
func (p *Pool) definition(about *v1.Pod, s *StopContainer) (*v1.Container, error) {
	if c, _ := pod.Container(about, s.Name); c != nil || p.cfg.Restore == nil {
		return c, nil
	}
	return p.cfg.Restore(s.Name, s.annotations)
}

// runtimeAddress is address for a pod that may have no status: then it returns the address that the
// runtime shows, and may wait for an observation until ctx is done.
func (p *Pool) runtimeAddress(ctx context.Context, uid types.UID) string {
	if ip := p.address(uid, nil); ip != "" {
		return ip
	}
	observed, err := p.cfg.Cache.GetNewerThan(ctx, uid, time.Time{})
	if err != nil {
		return ""
	}
	ips := observed.IPs
	if len(observed.Sandboxes) > 0 && observed.Sandboxes[0].HostNetwork && p.cfg.HostIPs != nil {
		ips = p.cfg.HostIPs()
	}
	if len(ips) == 0 {
		return ""
	}
	return ips[0]
}

// address returns the address of a pod: that of its sandbox if ofSandbox is not empty, else the one
// in its status.
func (p *Pool) address(uid types.UID, ofSandbox []string) string {
	if len(ofSandbox) > 0 {
		return ofSandbox[0]
	}
	st, _ := p.cfg.Statuses.Get(uid)
	return st.PodIP
}
