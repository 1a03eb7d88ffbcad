package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"syscall"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	// ranFor is how long a container runs before it is killed.
	ranFor = 3 * time.Second
	// quiet is how long nothing may happen before an update is sent: less than a kubelet's relist
	// period.
	quiet = 300 * time.Millisecond
)

// singles measures operations on single pods.
func (b *bench) singles(ctx context.Context, a *agent) error {
	if b.parts.any(partStart, partRestart) {
		runs, err := b.starts(ctx, a)
		if err != nil {
			return err
		}
		if b.parts.any(partRestart) {
			if err := b.restarts(ctx, a, runs); err != nil {
				return err
			}
		}
	}
	if b.parts.any(partUpdate) {
		return b.updates(ctx, a)
	}
	return nil
}

// starts measures from each manifest to its running container.
func (b *bench) starts(ctx context.Context, a *agent) (all []instance, err error) {
	var times []time.Duration
	for n := range b.single {
		if err := b.pause(ctx); err != nil {
			return nil, err
		}
		m := manifest{name: "single-" + strconv.Itoa(n)}
		began, err := a.drop(m)
		if err != nil {
			return nil, err
		}
		b.tracer.mark(a.side+": start", began)
		runs, err := b.events.running(ctx, m.running(), "")
		if err != nil {
			return nil, err
		}
		times, all = append(times, runs.started.Sub(began)), append(all, runs)
	}
	b.measured.addMedian("start "+a.side, times)
	return all, nil
}

// restarts measures from a kill to the next running container.
func (b *bench) restarts(ctx context.Context, a *agent, all []instance) error {
	var times []time.Duration
	for _, runs := range all {
		if err := wait(ctx, time.Until(runs.started.Add(ranFor))); err != nil {
			return err
		}
		if err := b.pause(ctx); err != nil {
			return err
		}
		began, err := b.kill(ctx, runs)
		if err != nil {
			return err
		}
		b.tracer.mark(a.side+": kill", began)
		next, err := b.events.running(ctx, runs.pod, runs.id)
		if err != nil {
			return err
		}
		times = append(times, next.started.Sub(began))
	}
	b.measured.addMedian("restart "+a.side, times)
	return nil
}

// kill kills a container's process from outside.
func (b *bench) kill(ctx context.Context, runs instance) (began time.Time, err error) {
	answer, err := b.cri.ContainerStatus(ctx, &criapi.ContainerStatusRequest{ContainerId: runs.id, Verbose: true})
	if err != nil {
		return time.Time{}, err
	}
	pid, err := parsePID(answer.GetInfo())
	if err != nil {
		return time.Time{}, err
	}
	began = time.Now()
	return began, syscall.Kill(pid, syscall.SIGKILL)
}

// parsePID returns the process ID in containerd's verbose status.
func parsePID(verbose map[string]string) (int, error) {
	var info struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(verbose["info"]), &info); err != nil {
		return 0, fmt.Errorf("read a container's process: %w", err)
	}
	if info.PID <= 1 {
		return 0, fmt.Errorf("a container's process is %d", info.PID)
	}
	return info.PID, nil
}

// updates measures the time from a manifest with another image until the old container has stopped,
// and until the new one runs. Each pod is updated once, because a second time a back-off could be
// due.
func (b *bench) updates(ctx context.Context, a *agent) error {
	var acted, running []time.Duration
	for n := range b.single {
		m := manifest{name: "update-" + strconv.Itoa(n), uid: "bench-update-" + strconv.Itoa(n)}
		if _, err := a.drop(m); err != nil {
			return err
		}
		before, err := b.events.running(ctx, m.running(), "")
		if err != nil {
			return err
		}
		if err := wait(ctx, time.Until(before.started.Add(quiet))); err != nil {
			return err
		}
		m.version = 1
		began, err := a.drop(m)
		if err != nil {
			return err
		}
		b.tracer.mark(a.side+": update", began)
		stopped, err := b.events.stopped(ctx, before.id)
		if err != nil {
			return err
		}
		after, err := b.events.running(ctx, m.running(), before.id)
		if err != nil {
			return err
		}
		acted, running = append(acted, stopped.Sub(began)), append(running, after.started.Sub(began))
	}
	b.measured.addMedian("update "+a.side, acted)
	b.measured.addMedian("update "+a.side+replaced, running)
	return nil
}
