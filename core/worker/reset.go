package worker

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// ResetContainer is an instance of a container to be removed.
type ResetContainer struct {
	ID   string
	Name string
	// Stop is true if the instance has to be stopped first.
	Stop bool
}

// planReset plans the restart of all containers of a pod. Their instances are removed in the
// reverse order of the spec, the triggers last. While a trigger exists, the remaining instances are
// removed too, even by another agent that has started in between.
func planReset(p *v1.Pod, observed *status.ObservedPod, triggers []*status.ObservedContainer) Actions {
	var first, last []ResetContainer
	for c, kind := range pod.Containers(p) {
		if kind == pod.EphemeralContainer {
			continue
		}
		for i := range observed.Containers {
			o := &observed.Containers[i]
			if o.Name != c.Name {
				continue
			}
			r := ResetContainer{ID: o.ID, Name: o.Name, Stop: o.State == status.StateRunning || o.State == status.StateUnknown}
			if slices.Contains(triggers, o) {
				last = append(last, r)
			} else {
				first = append(first, r)
			}
		}
	}
	slices.Reverse(first)
	slices.Reverse(last)
	return Actions{Reset: append(first, last...), Triggers: triggers}
}

// executeReset stops and removes the instances of the plan, once the back-off of all triggers has
// passed, and makes the worker sync again at once. tried is as in execute.
func (p *Pool) executeReset(ctx context.Context, it syncIteration, a *Actions, observed *status.ObservedPod) (tried bool, err error) {
	for _, trigger := range a.Triggers {
		c, _ := pod.Container(it.pod, trigger.Name)
		if err := p.awaitBackoff(it, c, trigger, observed); err != nil {
			p.cfg.Reasons.Set(it.uid, c.Name, status.ReasonOf(err, "RunContainerError"))
			p.publish(it, observed, progress{})
			return false, fmt.Errorf("container %s: %w", c.Name, err)
		}
	}
	for i := range a.Reset {
		if err := p.interrupted(ctx); err != nil {
			return true, err
		}
		if err := p.resetContainer(ctx, it, &a.Reset[i]); err != nil {
			p.warn(ctx, it.pod, "FailedSync", err)
			return true, err
		}
	}
	for c := range pod.Containers(it.pod) {
		p.cfg.Reasons.Remove(it.uid, c.Name)
	}
	p.mu.Lock()
	p.syncAgain(it.rec)
	p.mu.Unlock()
	return true, nil
}

// resetContainer stops an instance without a grace period if it is running, and removes it.
func (p *Pool) resetContainer(ctx context.Context, it syncIteration, r *ResetContainer) error {
	if r.Stop {
		status.ContainerEvent(p.cfg.Events, it.pod, r.Name, v1.EventTypeNormal, "Killing", "Stopping container "+r.Name+": all containers of the pod restart")
		if err := p.cfg.Runtime.StopContainer(ctx, r.ID, 0); err != nil {
			return fmt.Errorf("stopping container %s (%s) for the restart of all: %w", r.Name, r.ID, err)
		}
	}
	if err := p.cfg.Runtime.RemoveContainer(ctx, it.uid, r.ID); err != nil {
		return fmt.Errorf("removing container %s (%s) for the restart of all: %w", r.Name, r.ID, err)
	}
	return nil
}
