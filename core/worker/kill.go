package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// killPod stops all containers at once, each with the whole grace period. Only sidecars stop one
// after the other, after all other containers have stopped. Then it stops every sandbox, but none
// while a container may still be in its grace period. why is a part of each container's message.
func (p *Pool) killPod(ctx context.Context, about *v1.Pod, observed *status.ObservedPod, grace time.Duration, why string) error {
	var stops []StopContainer
	for i := range observed.Containers {
		c := &observed.Containers[i]
		if c.State == status.StateRunning || c.State == status.StateUnknown {
			stops = append(stops, StopContainer{ID: c.ID, Name: c.Name, Message: "Stopping container " + c.Name + ": " + why, annotations: c.Annotations})
		}
	}
	orderStops(about, stops)
	if err := p.stopContainers(ctx, about, stops, grace); err != nil {
		return err
	}
	for i := range observed.Sandboxes {
		if err := p.interrupted(ctx); err != nil {
			return err
		}
		if err := p.cfg.Runtime.StopSandbox(ctx, observed.Sandboxes[i].ID); err != nil {
			return fmt.Errorf("stopping sandbox %s: %w", observed.Sandboxes[i].ID, err)
		}
	}
	return nil
}

// orderStops makes each sidecar stop after the regular containers and after the sidecars that
// started later.
func orderStops(about *v1.Pod, stops []StopContainer) {
	var regular []int
	sidecars := map[int]int{} // the index in the spec, by index in stops
	for i := range stops {
		switch c, kind := pod.Container(about, stops[i].Name); {
		case c != nil && kind == pod.Sidecar:
			sidecars[i] = slices.IndexFunc(about.Spec.InitContainers, func(s v1.Container) bool { return s.Name == c.Name })
		case c != nil && kind == pod.RegularContainer:
			regular = append(regular, i)
		}
	}
	for i, began := range sidecars {
		stops[i].after = slices.Clone(regular)
		for j, other := range sidecars {
			if other > began {
				stops[i].after = append(stops[i].after, j)
			}
		}
	}
}

// stopContainers stops containers at once, but for those that wait for others, and waits for all.
// If a container that another one waits for could not be stopped, the waiting container is not
// stopped.
func (p *Pool) stopContainers(ctx context.Context, about *v1.Pod, stops []StopContainer, grace time.Duration) error {
	if len(stops) == 0 {
		return nil
	}
	if err := p.interrupted(ctx); err != nil {
		return err
	}
	errs, stopped := make([]error, len(stops)), make([]chan struct{}, len(stops))
	for i := range stops {
		stopped[i] = make(chan struct{})
	}
	var wg sync.WaitGroup
	for i, s := range stops {
		wg.Go(func() {
			defer close(stopped[i])
			status.ContainerEvent(p.cfg.Events, about, s.Name, v1.EventTypeNormal, "Killing", s.Message)
			grace := p.preStop(ctx, about, &s, cmp.Or(s.grace, grace))
			grace = p.waitTurn(ctx, s.after, stopped, grace)
			if anyFailed(s.after, stopped, errs) {
				return // it is stopped when the failed ones are tried again
			}
			if err := p.cfg.Runtime.StopContainer(ctx, s.ID, grace); err != nil {
				errs[i] = fmt.Errorf("stopping container %s (%s): %w", s.Name, s.ID, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// waitTurn waits until the containers in after have stopped, at most for the grace period. It
// returns the rest of the grace period, and at least fallbackGrace so that a container has time to
// exit by itself.
func (p *Pool) waitTurn(ctx context.Context, after []int, stopped []chan struct{}, grace time.Duration) time.Duration {
	if len(after) == 0 {
		return grace
	}
	began := p.cfg.Now()
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for _, i := range after {
		select {
		case <-stopped[i]:
		case <-ctx.Done():
		}
	}
	return max(grace-p.cfg.Now().Sub(began).Truncate(time.Second), fallbackGrace)
}

// anyFailed reports whether one of the containers with these indexes could not be stopped.
func anyFailed(indexes []int, stopped []chan struct{}, errs []error) bool {
	return slices.ContainsFunc(indexes, func(i int) bool {
		select {
		case <-stopped[i]:
			return errs[i] != nil
		default:
			return false
		}
	})
}

// terminationReason returns why the pod is being terminated. An earlier event may contain more
// details.
func (r *record) terminationReason() string {
	switch {
	case r.pod == nil:
		return "no source wants the pod"
	case r.failure != nil:
		return r.failure.Message
	case r.evicted:
		return "the pod was evicted"
	case r.nodeShutdown:
		return "the node is shutting down"
	case r.removed:
		return "the pod's document was removed, has changed, or gave way to another"
	case r.deleted:
		return "the pod was deleted"
	}
	return "the pod has ended"
}

const (
	// orphanGrace is the grace period of a pod that only the runtime knows and that no earlier
	// agent was terminating.
	orphanGrace = time.Second
	// fallbackGrace is the grace period of a container whose pod specifies none.
	fallbackGrace = 2 * time.Second
)

// effectiveGrace returns the grace period, in seconds, of a pod that is being terminated. current
// is the period in force, 0 for none yet; it can only become shorter. override is the requested
// period. The result is at least 1.
func effectiveGrace(current int64, p *v1.Pod, override *int64) int64 {
	grace, named := current, false
	shorten := func(seconds *int64) {
		if seconds != nil && (grace == 0 || *seconds < grace) {
			grace, named = *seconds, true
		}
	}
	if p != nil {
		shorten(p.DeletionGracePeriodSeconds)
	}
	shorten(override)
	if !named && grace == 0 && p != nil && p.Spec.TerminationGracePeriodSeconds != nil {
		grace = *p.Spec.TerminationGracePeriodSeconds
	}
	return max(grace, 1)
}

// restartGrace returns the grace period of a container that is stopped while its pod keeps running.
func restartGrace(p *v1.Pod) time.Duration {
	switch {
	case p.DeletionGracePeriodSeconds != nil:
		return seconds(*p.DeletionGracePeriodSeconds)
	case p.Spec.TerminationGracePeriodSeconds != nil:
		return seconds(*p.Spec.TerminationGracePeriodSeconds)
	}
	return fallbackGrace
}

// maxDuration is the longest duration that seconds returns, used even if the value means "for
// ever". It can be added to or halved without overflow.
const maxDuration = 100 * 365 * 24 * time.Hour

// seconds returns n seconds, bounded by zero and maxDuration.
func seconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), int64(maxDuration/time.Second))) * time.Second
}
