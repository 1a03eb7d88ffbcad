package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/wardlet/wardlet/test/harness"
)

// memory measures what is resident, long after the last change.
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

// resident is the resident memory in a process's status and what it is made
// of, in bytes.
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

// guardedMemory measures the agent with policies, by a process that finds them
// compiled by the one before.
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
