package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wardlet/wardlet/test/harness"
)

// memory is the memory of an idle agent.
type memory struct {
	// resident and proportional are VmRSS and PSS, in bytes.
	resident, proportional int64
	// maps is its /proc/PID/smaps.
	maps string
}

// measureMemory starts an agent with one policy and no pods on a runtime of its own, to warm the
// compile cache. It then starts the agent again and measures it after idleTime.
func measureMemory(ctx context.Context, wardlet, policies string) (found memory, err error) {
	n, err := harness.New(harness.Config{
		Name: "size", Wardlet: wardlet, Policies: policies, Allow: []string{"registry.example/*"}, Settings: harness.Settings{Node: "size"},
	})
	if err != nil {
		return memory{}, err
	}
	defer func() { err = errors.Join(err, n.Close(context.WithoutCancel(ctx))) }()
	if err := n.StartRuntime(ctx); err != nil {
		return memory{}, err
	}
	if err := started(ctx, n); err != nil {
		return memory{}, err
	}
	if err := n.Stop(); err != nil {
		return memory{}, err
	}
	began := time.Now()
	if err := started(ctx, n); err != nil {
		return memory{}, err
	}
	select {
	case <-ctx.Done():
		return memory{}, ctx.Err()
	case <-time.After(time.Until(began.Add(idleTime))):
	}
	if err := inForce(ctx, n); err != nil {
		return memory{}, err
	}
	return readMemory(n.Process.PID())
}

// startTime limits the time from the start of an agent until its policies are in force.
const startTime = 30 * time.Second

// started starts the agent and returns once its policy is in force.
func started(ctx context.Context, n *harness.Node) error {
	if err := n.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	err := n.Process.Await(ctx, 100*time.Millisecond, func(ctx context.Context) error { return inForce(ctx, n) })
	if err != nil {
		return fmt.Errorf("%w; the end of the agent's log:\n%s", err, strings.Join(n.LogTail(20), "\n"))
	}
	return nil
}

// inForce returns an error unless the agent reports that its one policy is in force.
func inForce(ctx context.Context, n *harness.Node) error {
	out, err := n.Wardlet(ctx, "get", "policies")
	if err != nil {
		return err
	}
	if !strings.Contains(out, harness.Policy) || !strings.Contains(out, " in force, generation ") {
		return fmt.Errorf("policy %s is not in force:\n%s", harness.Policy, out)
	}
	return nil
}

// readMemory reads the kernel's figures about a process.
func readMemory(pid int) (memory, error) {
	var files []string
	for _, name := range []string{"status", "smaps_rollup", "smaps"} {
		data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
		if err != nil {
			return memory{}, fmt.Errorf("read the agent's memory: %w", err)
		}
		files = append(files, string(data))
	}
	resident, err := harness.Kilobytes(files[0], "VmRSS")
	if err != nil {
		return memory{}, err
	}
	proportional, err := harness.Kilobytes(files[1], "Pss")
	return memory{resident, proportional, files[2]}, err
}
