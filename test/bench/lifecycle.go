package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// The duration of a round of the lifecycle on two cores, and the additional duration of idle time
// and memory.
const (
	lifecycleRound = 140 * time.Second
	lifecycleLong  = 320 * time.Second
)

// longRounds returns in how many of the rounds idle time and memory are measured. These
// measurements mostly wait.
func longRounds(rounds int) int { return (rounds + 2) / 3 }

func expectedLifecycle(rounds int) time.Duration {
	return time.Duration(rounds)*lifecycleRound + time.Duration(longRounds(rounds))*lifecycleLong
}

// buildLifecycle builds the program and all that it runs.
func buildLifecycle(ctx context.Context, r *run) error {
	if os.Geteuid() != 0 {
		return errors.New("real containers need root: run this as root, or with sudo -E; -only names another bench")
	}
	for _, step := range []struct {
		what string
		args []string
	}{
		{"containerd and a kubelet", []string{"tools/setup.sh", "runtime", "kubelet"}},
		{"the agent and its plugins", []string{"make", "-s", "--no-print-directory", "build", "plugins"}},
		{"the bench of the lifecycle", []string{"go", "build", "-o", r.lifecycleDriver(), "./test/bench/lifecycle"}},
	} {
		if err := r.build(ctx, ".", step.what, step.args...); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) lifecycleDriver() string { return filepath.Join(r.tools, "lifecycle") }

// measureLifecycle runs test/bench/lifecycle, which measures the agent beside a real kubelet and
// direct calls to a container runtime. That program documents how it measures, and sets the limits;
// this one checks the figures against them.
func measureLifecycle(ctx context.Context, r *run, report report) error {
	return r.drive(ctx, report, r.lifecycleDriver(),
		"-root", r.root, "-rounds", strconv.Itoa(r.rounds), "-long", strconv.Itoa(longRounds(r.rounds)), "-within", r.left().String())
}
