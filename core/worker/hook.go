package worker

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/handler"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// slowHook is how long a postStart hook may run before that is an event.
const slowHook = time.Minute

// Hooks carry out lifecycle hooks; see handler.Runner.
type Hooks interface {
	Hook(ctx context.Context, to handler.Target, hook *v1.LifecycleHandler) error
}

// postStart carries out what a container that has just started is to do first. The container ends where that fails.
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

// preStop carries out what a container is to do before it is stopped, within its grace period, and returns what is left of
// that. Where it fails the container is stopped all the same.
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

// definition returns the definition of a container: that of the pod or, where the pod does not have it any more or only
// the runtime knows the pod, what the container's annotations say of it.
func (p *Pool) definition(about *v1.Pod, s *StopContainer) (*v1.Container, error) {
	if c, _ := pod.Container(about, s.Name); c != nil || p.cfg.Restore == nil {
		return c, nil
	}
	return p.cfg.Restore(s.Name, s.annotations)
}

// runtimeAddress is address for a pod that may have no status: then it is what the runtime shows, which may be waited
// for until ctx ends.
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

// address returns the address of a pod: that of its sandbox, or the node's for a pod on its network.
func (p *Pool) address(uid types.UID, ofSandbox []string) string {
	if len(ofSandbox) > 0 {
		return ofSandbox[0]
	}
	st, _ := p.cfg.Statuses.Get(uid)
	return st.PodIP
}
