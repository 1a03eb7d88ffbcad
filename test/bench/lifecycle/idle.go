package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/test/harness"
	"github.com/wardlet/wardlet/test/privateruntime"
)

// usage is processor time.
type usage struct{ agent, containerd, shims time.Duration }

// idle measures processor time per second while nothing happens. pid 0 means that there is no
// agent.
func (b *bench) idle(ctx context.Context, side string, pid int) error {
	took, err := b.using(pid)
	if err != nil {
		return err
	}
	began := time.Now()
	b.tracer.mark(side+": idle", began)
	if err := wait(ctx, b.window); err != nil {
		return err
	}
	used, err := took()
	if err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
	if pid != 0 {
		b.measured.add("cpu "+side, float64(used.agent)/seconds)
	}
	b.measured.add("containerd "+side, float64(used.containerd)/seconds)
	b.measured.add("shims "+side, float64(used.shims)/seconds)
	return nil
}

// using returns a function that returns the processor time that the agent, containerd and the
// existing shims have used since using was called. pid 0 means that there is no agent.
func (b *bench) using(pid int) (took func() (usage, error), err error) {
	containerd, err := b.containerd()
	if err != nil {
		return nil, err
	}
	serving, err := harness.ShimsOf(b.runtime.Socket())
	if err != nil {
		return nil, err
	}
	shims := slices.Collect(maps.Values(serving))
	before, err := used(pid, containerd, shims)
	if err != nil {
		return nil, err
	}
	return func() (usage, error) {
		after, err := used(pid, containerd, shims)
		return usage{after.agent - before.agent, after.containerd - before.containerd, after.shims - before.shims}, err
	}, nil
}

func used(agent, containerd int, shims []int) (u usage, err error) {
	if agent != 0 {
		if u.agent, err = processorTime(agent); err != nil {
			return usage{}, err
		}
	}
	if u.containerd, err = processorTime(containerd); err != nil {
		return usage{}, err
	}
	for _, shim := range shims {
		more, err := processorTime(shim)
		if err != nil {
			return usage{}, err
		}
		u.shims += more
	}
	return u, nil
}

// processorTime returns the processor time of all threads of a process, also of those that have
// ended. Its clock is finer than /proc's ticks of 10 ms.
func processorTime(pid int) (time.Duration, error) {
	const scheduler = 2 // the kernel's CPUCLOCK_SCHED
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid)<<3|scheduler, &t); err != nil {
		return 0, fmt.Errorf("processor time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// containerd returns the process ID of the runtime.
func (b *bench) containerd() (int, error) {
	all, err := privateruntime.List()
	if err != nil {
		return 0, err
	}
	for _, one := range all {
		if one.Name == b.runtime.Name() && one.PID > 0 {
			return one.PID, nil
		}
	}
	return 0, fmt.Errorf("the runtime %s does not run", b.runtime.Name())
}

// memory measures the resident memory, long after the last change.
func (b *bench) memory(ctx context.Context, a *agent, last time.Time) error {
	if err := wait(ctx, time.Until(last.Add(b.aged))); err != nil {
		return err
	}
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(a.Process.PID()), "status"))
	if err != nil {
		return err
	}
	sizes, err := resident(string(status))
	if err != nil {
		return err
	}
	b.measured.add("resident "+a.side, sizes["VmRSS"])
	b.say("%s has %.1f MiB: %.1f of its own, %.1f of files, %.1f shared", a.side,
		sizes["VmRSS"]/(1<<20), sizes["RssAnon"]/(1<<20), sizes["RssFile"]/(1<<20), sizes["RssShmem"]/(1<<20))
	return nil
}

// resident returns the resident memory in a process's status and its parts, in bytes.
func resident(status string) (map[string]float64, error) {
	sizes := map[string]float64{}
	for _, name := range []string{"VmRSS", "RssAnon", "RssFile", "RssShmem"} {
		bytes, err := harness.Kilobytes(status, name)
		if err != nil {
			return nil, err
		}
		sizes[name] = float64(bytes)
	}
	return sizes, nil
}

// guardedMemory measures the agent with policies, in a process that uses the code compiled by the
// process before.
func (b *bench) guardedMemory(ctx context.Context, a *agent) error {
	if err := a.stop(); err != nil {
		return err
	}
	if err := a.start(ctx); err != nil {
		return err
	}
	_, last, err := b.burst(ctx, a, crowd(b.pods))
	if err != nil {
		return err
	}
	return b.memory(ctx, a, last)
}
