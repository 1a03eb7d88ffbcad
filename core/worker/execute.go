package worker

import (
	"context"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// execute carries out a plan: stop, sandbox, then containers one after the
// other. A container that cannot be started does not stop the others. tried
// tells whether there is anything to look at now. Where the sandbox failed there
// is not: each try may leave another, and to see one brings the next try at once.
func (p *Pool) execute(ctx context.Context, t turn, a *Actions, observed *status.ObservedPod) (tried bool, err error) {
	if err := p.carryOutStops(ctx, t, a, observed); err != nil {
		p.warn(ctx, t.pod, "FailedKillPod", err)
		return true, err
	}
	if !a.CreateSandbox && len(a.Start) == 0 {
		return true, nil
	}
	home, err := p.sandbox(ctx, t, a)
	if err != nil {
		return false, err
	}
	tried = a.KillPod || a.CreateSandbox || len(a.Stop) > 0
	var failed failures
	for _, i := range a.Start {
		if err := p.proceed(ctx); err != nil {
			return tried, err
		}
		c := &t.pod.Spec.Containers[i]
		started, err := p.startContainer(ctx, t, c, home, observed)
		tried = tried || started
		if err == nil {
			p.cfg.Reasons.Remove(t.uid, c.Name)
			continue
		}
		if p.proceed(ctx) != nil {
			return tried, err // not the container's fault
		}
		if _, ok := errors.AsType[*status.Fault](err); ok { // else the runtime is away: nothing is wrong with the container
			p.cfg.Reasons.Set(t.uid, c.Name, status.ReasonOf(err, "RunContainerError"))
		}
		failed = append(failed, fmt.Errorf("container %s: %w", c.Name, err))
	}
	if len(failed) == 0 {
		return tried, nil
	}
	// The reasons are to be seen now, not after the back-off.
	if newest, err := p.cfg.Cache.Get(t.uid); err == nil {
		p.publish(t, &newest, phase{})
	}
	return tried, failed
}

func (p *Pool) carryOutStops(ctx context.Context, t turn, a *Actions, observed *status.ObservedPod) error {
	if a.KillPod {
		return p.killPod(ctx, t.pod, observed, restartGrace(t.pod), a.Why)
	}
	return p.stopContainers(ctx, t.pod, a.Stop, restartGrace(t.pod))
}

// sandbox gives what containers are started in, and makes it if the plan says
// so.
func (p *Pool) sandbox(ctx context.Context, t turn, a *Actions) (pod.ContainerRun, error) {
	if err := p.proceed(ctx); err != nil {
		return pod.ContainerRun{}, err
	}
	parent, err := p.cfg.Cgroups.Ensure(t.pod)
	if err != nil {
		err = fmt.Errorf("making the pod's cgroup: %w", err)
		p.warn(ctx, t.pod, "FailedCreatePodContainer", err)
		return pod.ContainerRun{}, err
	}
	home := pod.ContainerRun{Pod: t.pod, Sandbox: pod.SandboxRun{
		Pod: t.pod, CgroupParent: parent, Seen: t.origin.FirstSeen, Document: t.origin.Document, Instance: t.origin.Instance,
	}}
	if !a.CreateSandbox {
		home.Sandbox.Attempt = a.Sandbox.Attempt
		home.SandboxID, home.SandboxIPs = a.Sandbox.ID, a.Sandbox.IPs
		return home, nil
	}
	home.Sandbox.Attempt = a.Attempt
	crashpoint.Reached("sandbox due")
	home.SandboxID, err = p.cfg.Runtime.RunSandbox(ctx, home.Sandbox)
	crashpoint.Reached("sandbox made")
	if err != nil {
		err = fmt.Errorf("creating the pod's sandbox: %w", err)
		p.warn(ctx, t.pod, "FailedCreatePodSandBox", err)
		return pod.ContainerRun{}, err
	}
	if t.pod.Spec.HostNetwork {
		return home, nil
	}
	after, err := p.observe(ctx, t.uid, p.cfg.Now())
	if err != nil {
		return pod.ContainerRun{}, fmt.Errorf("reading the addresses of the new sandbox: %w", err)
	}
	home.SandboxIPs = after.IPs
	// What was stopped for the new sandbox may look as if it had ended well, and that were final.
	if !a.KillPod || t.pod.Spec.RestartPolicy == v1.RestartPolicyAlways {
		p.publish(t, &after, phase{})
	}
	return home, nil
}

// startContainer starts one container in the sandbox of home. tried tells whether
// the runtime was asked to.
func (p *Pool) startContainer(ctx context.Context, t turn, c *v1.Container, home pod.ContainerRun, observed *status.ObservedPod) (tried bool, err error) {
	newest := observed.Newest(c.Name)
	if err := p.mayRestart(t.pod, c, newest); err != nil {
		p.cfg.Events.Event(t.pod, v1.EventTypeWarning, "BackOff",
			fmt.Sprintf("Back-off restarting failed container %s in pod %s(%s)", c.Name, pod.FullName(t.pod), t.uid))
		return false, err
	}
	if err := p.prune(ctx, t, c.Name, observed); err != nil {
		return false, p.failed(ctx, t, err)
	}
	run := home
	run.Container = c
	if run.ImageRef, err = p.cfg.Images.Ensure(ctx, t.pod, c); err != nil {
		return false, err
	}
	if run.Mounts, err = p.cfg.Volumes.Mounts(t.pod, c); err != nil {
		return false, p.failed(ctx, t, &status.Fault{Reason: "CreateContainerConfigError", Err: err})
	}
	if run.Attempt, err = p.attempt(t, c.Name, newest); err != nil {
		return false, p.failed(ctx, t, &status.Fault{Reason: "CreateContainerError", Err: err})
	}
	if err := p.proceed(ctx); err != nil {
		return false, err
	}
	if _, err := p.cfg.Runtime.StartContainer(ctx, run); err != nil {
		return true, p.failed(ctx, t, err)
	}
	crashpoint.Reached("container started")
	p.cfg.Events.Event(t.pod, v1.EventTypeNormal, "Created", "Created container "+c.Name)
	p.cfg.Events.Event(t.pod, v1.EventTypeNormal, "Started", "Started container "+c.Name)
	return true, nil
}

// failed records that a container could not be started.
func (p *Pool) failed(ctx context.Context, t turn, err error) error {
	p.warn(ctx, t.pod, "Failed", err)
	return err
}
