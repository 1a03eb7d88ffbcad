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

	"github.com/wardlet/wardlet/test/demo/node"
)

// memory is what an idle agent occupies.
type memory struct {
	// resident and proportional are VmRSS and PSS, in bytes.
	resident, proportional int64
	// maps is its /proc/PID/smaps.
	maps string
}

// measureMemory starts an agent with one policy and no pods on a runtime of its own, so that its compile cache gets
// warm, starts it again and measures it after idleTime.
func measureMemory(ctx context.Context, wardlet, policies string) (found memory, err error) {
	n, err := node.New(node.Config{
		Name: "size", Wardlet: wardlet, Policies: policies, Allow: []string{"registry.example/*"},
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
	return readMemory(n.PID())
}

// startTime bounds how long an agent may take until its policies are in force.
const startTime = 30 * time.Second

// started starts the agent and returns once its policy is in force.
func started(ctx context.Context, n *node.Node) error {
	if err := n.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		err := inForce(ctx, n)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; the end of the agent's log:\n%s", err, strings.Join(n.LogTail(20), "\n"))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// inForce looks whether the agent says that its one policy is in force.
func inForce(ctx context.Context, n *node.Node) error {
	out, err := n.Wardlet(ctx, "get", "policies")
	if err != nil {
		return err
	}
	if !strings.Contains(out, node.Policy) || !strings.Contains(out, " in force, generation ") {
		return fmt.Errorf("policy %s is not in force:\n%s", node.Policy, out)
	}
	return nil
}

// readMemory reads what the kernel knows of a process.
func readMemory(pid int) (memory, error) {
	var files []string
	for _, name := range []string{"status", "smaps_rollup", "smaps"} {
		data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), name))
		if err != nil {
			return memory{}, fmt.Errorf("read the agent's memory: %w", err)
		}
		files = append(files, string(data))
	}
	resident, err := kilobytes(files[0], "VmRSS:")
	if err != nil {
		return memory{}, err
	}
	proportional, err := kilobytes(files[1], "Pss:")
	return memory{resident, proportional, files[2]}, err
}

// kilobytes finds "NAME: 123 kB" and gives bytes.
func kilobytes(text, name string) (int64, error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == name && fields[2] == "kB" {
			count, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read %s: %w", strings.TrimSuffix(name, ":"), err)
			}
			return count << 10, nil
		}
	}
	return 0, fmt.Errorf("the kernel does not tell %s", strings.TrimSuffix(name, ":"))
}
