package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// clusterRound is the duration of a round of the cluster on two cores.
const clusterRound = 40 * time.Minute

// buildCluster builds the program and all that it runs.
func buildCluster(ctx context.Context, r *run) error {
	if os.Geteuid() != 0 {
		return errors.New("real containers need root: run this as root, or with sudo -E; -only names another bench")
	}
	for _, step := range []struct {
		what string
		args []string
	}{
		{"a control plane, containerd and a kubelet", []string{"tools/setup.sh", "conformance", "kubelet"}},
		{"the agent", []string{"make", "-s", "--no-print-directory", "build"}},
		{"the bench of the cluster", []string{"go", "build", "-o", r.clusterDriver(), "./test/bench/cluster"}},
	} {
		if err := r.build(ctx, ".", step.what, step.args...); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) clusterDriver() string { return filepath.Join(r.tools, "bench-cluster") }

// clusterRounds returns in how many of the rounds each agent has its turn. A turn is long, and
// nearly all of it is waiting.
func clusterRounds(rounds int) int { return (rounds + 2) / 3 }

func expectedCluster(rounds int) time.Duration {
	return time.Duration(clusterRounds(rounds)) * clusterRound
}

// measureCluster runs test/bench/cluster, which measures the agent beside a real kubelet on a control plane.
func measureCluster(ctx context.Context, r *run, report report) error {
	return r.drive(ctx, report, r.clusterDriver(), "-root", r.root, "-rounds", strconv.Itoa(clusterRounds(r.rounds)))
}
