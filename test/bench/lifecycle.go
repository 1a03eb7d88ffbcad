package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// turns is how many alternating runs the limits of the lifecycle are for, with
// as many rounds as this program has by itself.
const turns = 2

// measureLifecycle has test/bench/lifecycle measure the agent beside a real
// kubelet and direct calls to a container runtime. It says there what is
// measured how, and what the limits are; here they are judged.
func measureLifecycle(ctx context.Context, r *run) ([]figure, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("real containers need root: run this as root, or with sudo -E; -only names another bench")
	}
	driver, err := r.buildLifecycle(ctx)
	if err != nil {
		return nil, err
	}
	return r.driveLifecycle(ctx, driver)
}

// buildLifecycle builds the program and all that it runs.
func (r *run) buildLifecycle(ctx context.Context) (string, error) {
	driver := filepath.Join(r.tools, "lifecycle")
	fmt.Fprintln(r.progress, "building the agent, its plugins, containerd and a kubelet; the first time that takes some minutes")
	for _, args := range [][]string{
		{"tools/setup.sh", "runtime", "kubelet"},
		{"make", "-s", "--no-print-directory", "build", "plugins"},
		{"go", "build", "-o", driver, "./test/bench/lifecycle"},
	} {
		build := exec.CommandContext(ctx, args[0], args[1:]...)
		build.Dir = r.root
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w\n%s", args, err, out)
		}
	}
	return driver, nil
}

// driveLifecycle runs the program and judges its figures.
func (r *run) driveLifecycle(ctx context.Context, driver string) ([]figure, error) {
	cmd := exec.CommandContext(ctx, driver, "-root", r.root, "-rounds", strconv.Itoa(turns*r.rounds))
	cmd.Dir = r.root
	// It takes away what it started, which takes it a while.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var errs bytes.Buffer
	cmd.Stderr = io.MultiWriter(&errs, r.progress)
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %s", cmd.Args, err, errs.Bytes())
	}
	var figures []figure
	if err := json.Unmarshal(text, &figures); err != nil {
		return nil, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	if len(figures) == 0 {
		return nil, errors.New("the bench of the lifecycle has measured nothing")
	}
	for i := range figures {
		f := &figures[i]
		f.OK = true
		if f.Limit != nil {
			*f = f.limited(atMost, *f.Limit)
		}
	}
	return figures, nil
}
