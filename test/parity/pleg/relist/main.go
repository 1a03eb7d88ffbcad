package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// measurement is what one run prints, per list.
type measurement struct {
	Side string `json:"side"`
	Load string `json:"load"`
	Pods int    `json:"pods"`
	// Nanoseconds is the processor time of all threads, including the garbage collector's.
	Nanoseconds float64 `json:"nanoseconds"`
	Bytes       float64 `json:"bytes"`
	Allocations float64 `json:"allocations"`
}

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "relist:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("relist", flag.ContinueOnError)
	side := flags.String("side", "wardlet", "wardlet or kubelet")
	pods := flags.Int("pods", 500, "how many pods there are")
	lists := flags.Int("lists", 2000, "how many lists to measure")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *pods < 1 || *lists < 1 || flags.NArg() > 0 {
		return errors.New("pods and lists are at least 1, and there are no other arguments")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var list func() error
	switch *side {
	case "wardlet":
		var ended <-chan struct{}
		list, ended = newWardlet(ctx, *pods)
		defer func() { cancel(); <-ended }()
	case "kubelet":
		list = newKubelet(*pods)
	default:
		return fmt.Errorf("side %q is neither wardlet nor kubelet", *side)
	}
	m := measurement{Side: *side, Load: "relist", Pods: *pods}
	if err := m.measure(list, *lists); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(m)
}

// measure makes n lists. Before that it makes some lists to warm up, in which pods are inspected.
func (m *measurement) measure(list func() error, n int) error {
	for range 20 {
		if err := list(); err != nil {
			return err
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun, err := processorTime()
	if err != nil {
		return err
	}
	for range n {
		if err := list(); err != nil {
			return err
		}
	}
	ended, err := processorTime()
	if err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	per := 1 / float64(n)
	m.Nanoseconds = float64(ended-begun) * per
	m.Bytes = float64(after.TotalAlloc-before.TotalAlloc) * per
	m.Allocations = float64(after.Mallocs-before.Mallocs) * per
	return nil
}

// processorTime returns the processor time that the process has used, in nanoseconds.
func processorTime() (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0, fmt.Errorf("reading the processor time: %w", err)
	}
	return t.Nano(), nil
}
