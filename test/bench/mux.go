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

// The sides and loads of test/parity/podconfig, which describes its measurements.
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

// tasks are the measurements of each round.
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

// cost is the output of the driver.
type cost struct {
	Nanoseconds  float64 `json:"nanoseconds"`
	Bytes        float64 `json:"bytes"`
	Allocations  float64 `json:"allocations"`
	PeakResident float64 `json:"peakResident"`
	PeakHeap     float64 `json:"peakHeap"`
	Retained     float64 `json:"retained"`
}

// costs are the costs of all rounds, by task.
type costs map[task][]cost

// buildMux builds the driver in its own module.
func buildMux(ctx context.Context, r *run) error {
	return r.build(ctx, "test/parity", "the driver with a kubelet's pod config", "go", "build", "-o", r.muxDriver(), "./podconfig")
}

func (r *run) muxDriver() string { return filepath.Join(r.tools, "podconfig") }

func measureMux(ctx context.Context, r *run, report report) error {
	dir := filepath.Join(r.root, "build")
	return r.eachRound(tasks, costs.figures, report, func(t task) (cost, error) { return t.run(ctx, r.muxDriver(), dir) })
}

// eachRound runs all tasks in each round, and after each round reports the figures of all rounds so
// far.
func (r *run) eachRound(tasks []task, figures func(costs) []figure, report report, measure func(task) (cost, error)) error {
	all := costs{}
	for round := range r.rounds {
		for _, t := range tasks {
			c, err := measure(t)
			if err != nil {
				return err
			}
			all[t] = append(all[t], c)
		}
		if err := report(float64(round+1)/float64(r.rounds), figures(all)); err != nil {
			return err
		}
	}
	return nil
}

// commandIn returns a command in a directory. It builds without cgo.
func commandIn(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd
}

// run runs the driver in a process of its own. Durable files are written below dir, on a real disk.
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
