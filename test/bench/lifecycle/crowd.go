package main

import (
	"context"
	"time"
)

// crowd measures many pods: until they run, while they do, until they are gone.
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

// burst measures from all manifests at once to the last running container.
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
