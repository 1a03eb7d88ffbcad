package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// The sides and loads of test/parity/podconfig, which says what it measures.
const (
	ours    = "wardlet"
	durable = "wardlet-durable"
	kubelet = "kubelet"

	change   = "change"
	snapshot = "snapshot"
)

// task is one run of the driver.
type task struct {
	side, load    string
	pods, changes int
}

// tasks are what each round measures.
var tasks = []task{
	{ours, change, 100, 2000},
	{kubelet, change, 100, 1000},
	{ours, change, 1000, 2000},
	{kubelet, change, 1000, 300},
	{ours, change, 10000, 2000},
	{kubelet, change, 10000, 40},
	{ours, snapshot, 10000, 1},
	{kubelet, snapshot, 10000, 1},
	{durable, change, 1000, 200},
	{durable, snapshot, 10000, 1},
}

// cost is what the driver prints.
type cost struct {
	Nanoseconds  float64 `json:"nanoseconds"`
	Bytes        float64 `json:"bytes"`
	Allocations  float64 `json:"allocations"`
	PeakResident float64 `json:"peakResident"`
	PeakHeap     float64 `json:"peakHeap"`
	Retained     float64 `json:"retained"`
}

// costs are those of all rounds, by task.
type costs map[task][]cost

func measureMux(ctx context.Context, r *run) ([]figure, error) {
	driver, err := r.buildDriver(ctx)
	if err != nil {
		return nil, err
	}
	all := costs{}
	for round := range r.rounds {
		fmt.Fprintf(r.progress, "mux: round %d of %d\n", round+1, r.rounds)
		for _, t := range tasks {
			c, err := t.run(ctx, driver, filepath.Join(r.root, "build"))
			if err != nil {
				return nil, err
			}
			all[t] = append(all[t], c)
		}
	}
	return all.figures(), nil
}

// buildDriver builds the driver in its own module.
func (r *run) buildDriver(ctx context.Context) (string, error) {
	driver := filepath.Join(r.tools, "podconfig")
	fmt.Fprintln(r.progress, "building the driver with a kubelet's pod config; the first time that takes some minutes")
	build := exec.CommandContext(ctx, "go", "build", "-o", driver, "./podconfig")
	build.Dir = filepath.Join(r.root, "test", "parity")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the driver in %s was not built: %w\n%s", build.Dir, err, out)
	}
	return driver, nil
}

// run runs the driver in a process of its own. What is durable goes to a disk
// that is one, below dir.
func (t task) run(ctx context.Context, driver, dir string) (cost, error) {
	args := []string{
		"-side", t.side, "-load", t.load, "-pods", strconv.Itoa(t.pods), "-changes", strconv.Itoa(t.changes),
	}
	if t.side == durable {
		own, err := os.MkdirTemp(dir, "podconfig-")
		if err != nil {
			return cost{}, err
		}
		defer func() { _ = os.RemoveAll(own) }()
		args = append(args, "-dir", filepath.Join(own, "state"))
	}
	cmd := exec.CommandContext(ctx, driver, args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	text, err := cmd.Output()
	if err != nil {
		return cost{}, fmt.Errorf("%v: %w: %s", cmd.Args, err, errs.Bytes())
	}
	var c cost
	if err := json.Unmarshal(text, &c); err != nil {
		return cost{}, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	if c.Nanoseconds <= 0 || c.Bytes <= 0 || c.Allocations <= 0 || t.load == snapshot && c.PeakResident <= 0 {
		return cost{}, fmt.Errorf("%v: it measured nothing: %s", cmd.Args, text)
	}
	return c, nil
}
