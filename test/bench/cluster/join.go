package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
)

// joins is how often an agent joins in a turn.
const joins = 5

// joining measures the time from the start of an agent's process until the API server shows that a
// node, which it did not know before, is Ready.
func (t *turn) joining(ctx context.Context) error {
	var all []float64
	for range joins {
		if err := t.i.StopNode(ctx); err != nil {
			return err
		}
		if _, err := t.i.Kubectl(ctx, "delete", "node", t.i.Env["NODE_NAME"]); err != nil {
			return err
		}
		started := make(chan error, 1)
		go func() { started <- t.i.StartNode(ctx, t.agent) }()
		ready, failed := t.untilReady(ctx)
		if err := <-started; err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
		began, err := t.startOfProcess()
		if err != nil {
			return err
		}
		all = append(all, float64(ready-began))
	}
	t.measured.add(joined, t.side, median(all))
	t.say("%s: a new node is Ready after %s (%v)", t.side, time.Duration(median(all)).Round(10*time.Millisecond), all)
	return nil
}

// untilReady returns the time since the boot at which the node is Ready.
func (t *turn) untilReady(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var node v1.Node
		// The node is not there at first.
		if err := t.admin.Get(ctx, "/api/v1/nodes/"+t.i.Env["NODE_NAME"], &node); err == nil {
			for _, c := range node.Status.Conditions {
				if c.Type == v1.NodeReady && c.Status == v1.ConditionTrue {
					return sinceBoot()
				}
			}
		}
		if err := wait(ctx, looks); err != nil {
			return 0, fmt.Errorf("the node is not Ready: %w", err)
		}
	}
}

func sinceBoot() (time.Duration, error) {
	var now unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	return time.Duration(now.Nano()), err
}

// startOfProcess returns the time since the boot at which the agent's process began.
func (t *turn) startOfProcess() (time.Duration, error) {
	text, err := t.proc("stat")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(text, ") ")
	fields := strings.Fields(after)
	if len(fields) < 20 {
		return 0, fmt.Errorf("a stat of %d fields: %q", len(fields), text)
	}
	n, err := strconv.Atoi(fields[19])
	return time.Duration(n) * time.Second / ticks, err
}
