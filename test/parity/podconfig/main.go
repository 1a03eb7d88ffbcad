package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/state"
)

// agent is the side that is measured. Only its source api has pods.
type agent interface {
	// begin sends the first snapshot and returns the pods of the ADDs.
	begin() ([]*v1.Pod, error)
	// change sends a new version of the pod at i and returns the pod of the UPDATE.
	change(i int, p *v1.Pod) (*v1.Pod, error)
}

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "podconfig:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, args []string) error {
	flags := flag.NewFlagSet("podconfig", flag.ContinueOnError)
	side := flags.String("side", "wardlet", "wardlet (without a disk), wardlet-durable or kubelet")
	load := flags.String("load", "change", "change: one pod of many changes; snapshot: all come at once")
	pods := flags.Int("pods", 1000, "how many pods there are")
	changes := flags.Int("changes", 1000, "how many changes to measure")
	dir := flags.String("dir", "", "where wardlet-durable keeps its documents; empty: a new directory that is removed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *pods < 1 || *changes < 1 || flags.NArg() > 0 {
		return errors.New("pods and changes are at least 1, and there are no other arguments")
	}
	held := makePods(*pods)
	a, stop, err := start(*side, held, *dir)
	if err != nil {
		return err
	}
	defer stop()
	m := measurement{Side: *side, Load: *load, Pods: *pods}
	switch *load {
	case "change":
		err = m.changes(a, held, *changes)
	case "snapshot":
		err = m.snapshot(a)
	default:
		err = fmt.Errorf("load %q is neither change nor snapshot", *load)
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(m)
}

func start(side string, pods []*v1.Pod, dir string) (agent, func(), error) {
	switch side {
	case "kubelet":
		k := newKubelet(pods)
		return k, k.config.Stop, nil
	case "wardlet":
		w, err := newWardlet(pods, nowhere{})
		return w, w.stop, err
	case "wardlet-durable":
		return startDurable(pods, dir)
	}
	return nil, nil, fmt.Errorf("side %q is none of wardlet, wardlet-durable and kubelet", side)
}

func startDurable(pods []*v1.Pod, dir string) (agent, func(), error) {
	clean := func() {}
	if dir == "" {
		own, err := os.MkdirTemp("", "podconfig-")
		if err != nil {
			return nil, nil, err
		}
		dir, clean = own, func() { _ = os.RemoveAll(own) }
	}
	disk, err := state.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		clean()
		return nil, nil, err
	}
	w, err := newWardlet(pods, disk.Documents())
	return w, func() { w.stop(); _ = disk.Close(); clean() }, err
}
