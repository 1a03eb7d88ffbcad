package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// crowd measures many pods: until they run, while they run, and until they are gone.
func (b *bench) crowd(ctx context.Context, a *agent) error {
	pods := crowd(b.pods)
	all, last, err := b.burst(ctx, a, pods)
	if err != nil {
		return err
	}
	if b.parts.any(partIdle) {
		if err := wait(ctx, b.settle); err != nil {
			return err
		}
		if err := b.idle(ctx, a.side, a.Process.PID()); err != nil {
			return err
		}
	}
	if b.parts.any(partMemory) {
		if err := b.memory(ctx, a, last); err != nil {
			return err
		}
	}
	if !b.parts.any(partDelete) {
		return nil
	}
	began, err := a.remove(pods...)
	if err != nil {
		return err
	}
	b.tracer.mark(a.side+": delete", began)
	stopped, err := b.events.allStopped(ctx, all)
	if err != nil {
		return err
	}
	b.measured.addTime("delete "+a.side, stopped.Sub(began))
	if a.side != ours {
		return nil
	}
	gone, err := b.untilGone(ctx, a)
	b.measured.addTime("left "+a.side, gone.Sub(stopped))
	return err
}

// burst measures from the creation of all manifests to the start of the last container.
func (b *bench) burst(ctx context.Context, a *agent, pods []manifest) (all []instance, last time.Time, err error) {
	took, err := b.using(a.Process.PID())
	if err != nil {
		return nil, time.Time{}, err
	}
	began, err := a.drop(pods...)
	if err != nil {
		return nil, time.Time{}, err
	}
	b.tracer.mark(a.side+": burst", began)
	all, last, err = b.events.allRunning(ctx, running(pods))
	if err != nil {
		return nil, time.Time{}, err
	}
	used, err := took()
	if err != nil || a.side == guarded {
		return all, last, err
	}
	b.measured.addTime("burst "+a.side, last.Sub(began))
	b.measured.addTime("burst cpu "+a.side, used.agent)
	b.measured.addTime("burst containerd "+a.side, used.containerd)
	return all, last, nil
}

// crowd measures many pods with a number of callers: until they run, until they have stopped, and
// until they are gone.
func (d *direct) crowd(ctx context.Context, callers int) error {
	using, err := d.using(0)
	if err != nil {
		return err
	}
	pods, took, err := d.runAll(ctx, callers)
	if err != nil {
		return fmt.Errorf("%d callers: %w", callers, err)
	}
	used, err := using()
	if err != nil {
		return err
	}
	if d.parts.any(partBurst) {
		d.measured.addTime("burst "+floorOf(callers), took)
		d.measured.addTime("burst containerd "+floorOf(callers), used.containerd)
	}
	if !d.parts.any(partDelete) {
		return nil
	}
	stopped, left, err := d.endAll(ctx, callers, pods)
	if err != nil {
		return fmt.Errorf("%d callers: %w", callers, err)
	}
	d.measured.addTime("delete "+floorOf(callers), stopped)
	d.measured.addTime("left "+floorOf(callers), left)
	return nil
}

// runAll runs a crowd, and returns it with the time to the start of the last container.
func (d *direct) runAll(ctx context.Context, callers int) (pods []directPod, took time.Duration, err error) {
	var all []*request
	for _, m := range crowd(d.pods) {
		asked, err := d.prepared(m.name, 0)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, asked)
	}
	var mu sync.Mutex
	began := time.Now()
	err = parallel(callers, all, func(asked *request) error {
		p, err := d.run(ctx, asked.sandbox.GetMetadata().GetName(), asked)
		mu.Lock()
		defer mu.Unlock()
		pods = append(pods, p)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	_, last, err := d.events.allRunning(ctx, running(crowd(d.pods)))
	return pods, last.Sub(began), err
}

// endAll stops all containers of a crowd and then removes all pods. It returns the time until the
// last container stopped, and the time from then on.
func (d *direct) endAll(ctx context.Context, callers int, pods []directPod) (stopped, left time.Duration, err error) {
	var all []instance
	for _, p := range pods {
		all = append(all, instance{id: p.container, pod: p.name})
	}
	began := time.Now()
	err = parallel(callers, pods, func(p directPod) error {
		_, err := d.cri.StopContainer(ctx, &criapi.StopContainerRequest{ContainerId: p.container, Timeout: grace})
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	last, err := d.events.allStopped(ctx, all)
	if err != nil {
		return 0, 0, err
	}
	err = parallel(callers, pods, func(p directPod) error {
		if _, err := d.cri.StopPodSandbox(ctx, &criapi.StopPodSandboxRequest{PodSandboxId: p.sandbox}); err != nil {
			return err
		}
		_, err := d.cri.RemovePodSandbox(ctx, &criapi.RemovePodSandboxRequest{PodSandboxId: p.sandbox})
		return err
	})
	return last.Sub(began), time.Since(last), err
}
