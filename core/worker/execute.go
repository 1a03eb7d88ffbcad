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

// execute carries out a plan: it stops containers, makes the sandbox, then starts containers one
// after the other. If a container cannot be started, the others are started nevertheless. tried
// reports whether the runtime has something new to show. It is false if the sandbox failed: each
// try may leave a failed sandbox behind, and observing it would start the next try at once.
func (p *Pool) execute(ctx context.Context, it syncIteration, a *Actions, observed *status.ObservedPod) (tried bool, err error) {
	if len(a.Reset) > 0 {
		return p.executeReset(ctx, it, a, observed)
	}
	if err := p.executeStops(ctx, it, a, observed); err != nil {
		p.warn(ctx, it.pod, "FailedKillPod", err)
		return true, err
	}
	if !a.CreateSandbox && len(a.Start) == 0 {
		return true, nil
	}
	template, err := p.ensureSandbox(ctx, it, a, observed)
	if err != nil {
		return false, err
	}
	tried = a.KillPod || a.CreateSandbox || len(a.Stop) > 0
	var failed failures
	for _, name := range a.Start {
		if err := p.interrupted(ctx); err != nil {
			return tried, err
		}
		c, kind := pod.Container(it.pod, name)
		started, err := p.startContainer(ctx, it, c, template, observed)
		tried = tried || started
		if err == nil {
			p.cfg.Reasons.Remove(it.uid, c.Name)
			continue
		}
		if p.interrupted(ctx) != nil {
			return tried, err // the container is not at fault
		}
		if _, ok := errors.AsType[*status.Fault](err); ok { // otherwise the runtime is unavailable: nothing is wrong with the container
			p.cfg.Reasons.Set(it.uid, c.Name, status.ReasonOf(err, "RunContainerError"))
		}
		failed = append(failed, fmt.Errorf("container %s: %w", c.Name, err))
		if kind == pod.InitContainer {
			break // its turn comes before that of all others
		}
	}
	if len(failed) == 0 {
		return tried, nil
	}
	// Publish the reasons now, not after the back-off.
	if newest, err := p.cfg.Cache.Get(it.uid); err == nil {
		p.publish(it, &newest, progress{})
	}
	return tried, failed
}

// executeStops stops what the plan stops.
func (p *Pool) executeStops(ctx context.Context, it syncIteration, a *Actions, observed *status.ObservedPod) error {
	if a.KillPod {
		return p.killPod(ctx, it.pod, observed, restartGrace(it.pod), a.Why)
	}
	return p.stopContainers(ctx, it.pod, a.Stop, restartGrace(it.pod))
}

// ensureSandbox makes the sandbox if the plan says so, and returns the template of the
// containers in it.
func (p *Pool) ensureSandbox(ctx context.Context, it syncIteration, a *Actions, observed *status.ObservedPod) (pod.ContainerRun, error) {
	if err := p.interrupted(ctx); err != nil {
		return pod.ContainerRun{}, err
	}
	parent, err := p.cfg.Cgroups.Ensure(it.pod)
	if err != nil {
		err = fmt.Errorf("making the pod's cgroup: %w", err)
		p.warn(ctx, it.pod, "FailedCreatePodContainer", err)
		return pod.ContainerRun{}, err
	}
	template := pod.ContainerRun{Pod: it.pod, Sandbox: pod.SandboxRun{
		Pod: it.pod, CgroupParent: parent, Seen: it.origin.FirstSeen, Document: it.origin.Document, Instance: it.origin.Instance,
	}}
	if !a.CreateSandbox {
		template.Sandbox.Attempt = a.Sandbox.Attempt
		template.SandboxID, template.SandboxIPs = a.Sandbox.ID, a.Sandbox.IPs
		return template, nil
	}
	p.removeInitInstances(ctx, it, observed)
	template.Sandbox.Attempt = a.Attempt
	crashpoint.Reached("sandbox due")
	template.SandboxID, err = p.cfg.Runtime.RunSandbox(ctx, template.Sandbox)
	crashpoint.Reached("sandbox made")
	if err != nil {
		err = fmt.Errorf("creating the pod's sandbox: %w", err)
		p.warn(ctx, it.pod, "FailedCreatePodSandBox", err)
		return pod.ContainerRun{}, err
	}
	if it.pod.Spec.HostNetwork {
		return template, nil
	}
	after, err := p.observe(ctx, it.uid, p.cfg.Now())
	if err != nil {
		return pod.ContainerRun{}, fmt.Errorf("reading the addresses of the new sandbox: %w", err)
	}
	template.SandboxIPs = after.IPs
	// Containers that were stopped for the new sandbox may look as if they had completed, and that
	// phase would be final.
	if !a.KillPod || it.pod.Spec.RestartPolicy == v1.RestartPolicyAlways {
		p.publish(it, &after, progress{})
	}
	return template, nil
}

// startContainer starts one container from the template. tried reports whether the runtime was
// called.
func (p *Pool) startContainer(ctx context.Context, it syncIteration, c *v1.Container, template pod.ContainerRun, observed *status.ObservedPod) (tried bool, err error) {
	newest := observed.Newest(c.Name)
	if err := p.awaitBackoff(it, c, newest, observed); err != nil {
		return false, err
	}
	if err := p.removeOldInstances(ctx, it, c.Name, observed); err != nil {
		return false, p.warnFailed(ctx, it, c.Name, err)
	}
	run := template
	run.Container = c
	if run.ImageRef, err = p.cfg.Images.Ensure(ctx, it.pod, c); err != nil {
		return false, err
	}
	expand := func(path string) (string, error) { return p.cfg.Runtime.ExpandPath(ctx, &run, path) }
	if run.Mounts, err = p.cfg.Volumes.Mounts(it.pod, c, expand); err != nil {
		return false, p.warnFailed(ctx, it, c.Name, &status.Fault{Reason: "CreateContainerConfigError", Err: err})
	}
	if run.TargetID, err = targetID(it.pod, c, observed); err != nil {
		return false, p.warnFailed(ctx, it, c.Name, &status.Fault{Reason: "CreateContainerConfigError", Err: err})
	}
	if run.Attempt, err = p.nextAttempt(it, c.Name, newest); err != nil {
		return false, p.warnFailed(ctx, it, c.Name, &status.Fault{Reason: "CreateContainerError", Err: err})
	}
	if err := p.interrupted(ctx); err != nil {
		return false, err
	}
	id, err := p.cfg.Runtime.StartContainer(ctx, run)
	if err != nil {
		return true, p.warnFailed(ctx, it, c.Name, err)
	}
	crashpoint.Reached("container started")
	status.ContainerEvent(p.cfg.Events, it.pod, c.Name, v1.EventTypeNormal, "Created", "Created container "+c.Name)
	status.ContainerEvent(p.cfg.Events, it.pod, c.Name, v1.EventTypeNormal, "Started", "Started container "+c.Name)
	return true, p.postStart(ctx, it, &run, id)
}

// targetID returns the ID of the container whose processes an ephemeral container should see, empty
// if it has no target.
func targetID(p *v1.Pod, c *v1.Container, observed *status.ObservedPod) (string, error) {
	for i := range p.Spec.EphemeralContainers {
		e := &p.Spec.EphemeralContainers[i]
		if e.Name != c.Name || e.TargetContainerName == "" {
			continue
		}
		newest := observed.Newest(e.TargetContainerName)
		if newest == nil || newest.State != status.StateRunning {
			return "", fmt.Errorf("its target container %s does not run", e.TargetContainerName)
		}
		return newest.ID, nil
	}
	return "", nil
}

// warnFailed records that a container could not be started, unless the iteration was interrupted.
// It returns err.
func (p *Pool) warnFailed(ctx context.Context, it syncIteration, container string, err error) error {
	if p.interrupted(ctx) == nil {
		status.ContainerEvent(p.cfg.Events, it.pod, container, v1.EventTypeWarning, "Failed", err.Error())
	}
	return err
}
