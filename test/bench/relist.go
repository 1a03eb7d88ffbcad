package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
)

// relist is the load of test/parity/pleg/relist, which describes its measurements.
const relist = "relist"

// relistTasks are the measurements of each round.
var relistTasks = []task{{ours, relist, 500, 2000}, {kubelet, relist, 500, 1000}}

// buildRelist builds the driver in its own module.
func buildRelist(ctx context.Context, r *run) error {
	return r.build(ctx, "test/parity", "the driver with a kubelet's PLEG", "go", "build", "-o", r.relistDriver(), "./pleg/relist")
}

func (r *run) relistDriver() string { return filepath.Join(r.tools, "relist") }

func measureRelist(ctx context.Context, r *run, report report) error {
	return r.eachRound(relistTasks, costs.relistFigures, report, func(t task) (cost, error) { return t.runRelist(ctx, r.relistDriver()) })
}

// runRelist runs the driver in a process of its own.
func (t task) runRelist(ctx context.Context, driver string) (cost, error) {
	cmd := exec.CommandContext(ctx, driver, "-side", t.side, "-pods", strconv.Itoa(t.pods), "-lists", strconv.Itoa(t.changes))
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
	if c.Nanoseconds <= 0 || c.Bytes <= 0 || c.Allocations <= 0 {
		return cost{}, fmt.Errorf("%v: it measured nothing: %s", cmd.Args, text)
	}
	return c, nil
}

// relistFigures returns the figures of a full list of 500 pods that have not changed; its time is
// processor time.
func (c costs) relistFigures() (all []figure) {
	a, b := c.of(ours, relist, 500), c.of(kubelet, relist, 500)
	for _, d := range []dimension{elapsed, allocated, counted} {
		all = append(all, plain("relist-500-"+d.name, middle(a, d), d.unit).beside("kubelet", middle(b, d)))
	}
	for _, d := range []dimension{elapsed, counted} {
		all = append(all, plain("relist-500-vs-kubelet-"+d.name, ratio(a, b, d), "ratio").limited(atMost, 0.3))
	}
	return all
}
