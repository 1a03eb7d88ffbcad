package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/status"
)

// killPod stops all containers at once, each with the whole grace period, and
// then every sandbox. It stops no sandbox while a container may still be in
// its grace period. why is told with every container.
func (p *Pool) killPod(ctx context.Context, about *v1.Pod, observed *status.ObservedPod, grace time.Duration, why string) error {
	var stops []StopContainer
	for i := range observed.Containers {
		c := &observed.Containers[i]
		if c.State == status.StateRunning || c.State == status.StateUnknown {
			stops = append(stops, StopContainer{ID: c.ID, Name: c.Name, Message: "Stopping container " + c.Name + ": " + why})
		}
	}
	if err := p.stopContainers(ctx, about, stops, grace); err != nil {
		return err
	}
	for i := range observed.Sandboxes {
		if err := p.proceed(ctx); err != nil {
			return err
		}
		if err := p.cfg.Runtime.StopSandbox(ctx, observed.Sandboxes[i].ID); err != nil {
			return fmt.Errorf("stopping sandbox %s: %w", observed.Sandboxes[i].ID, err)
		}
	}
	return nil
}

// stopContainers stops containers at once and waits for all.
func (p *Pool) stopContainers(ctx context.Context, about *v1.Pod, stops []StopContainer, grace time.Duration) error {
	if len(stops) == 0 {
		return nil
	}
	if err := p.proceed(ctx); err != nil {
		return err
	}
	errs := make([]error, len(stops))
	var wg sync.WaitGroup
	for i, s := range stops {
		wg.Go(func() {
			p.cfg.Events.Event(about, v1.EventTypeNormal, "Killing", s.Message)
			if err := p.cfg.Runtime.StopContainer(ctx, s.ID, grace); err != nil {
				errs[i] = fmt.Errorf("stopping container %s (%s): %w", s.Name, s.ID, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
