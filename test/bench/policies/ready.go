package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/test/bench/policies/guest"
	"github.com/wardlet/wardlet/test/bench/policies/question"
)

// measureReady measures the time until a policy is ready in a process that has just started: from
// opening the engine until its plugin is loaded and warm, as before its set is in force. The guest
// is the argument. The code is already compiled unless this is the first run.
func measureReady(ctx context.Context, r *run, args []string) (_ series, err error) {
	g, err := named(args)
	if err != nil {
		return nil, err
	}
	p, err := question.Pod()
	if err != nil {
		return nil, err
	}
	used := processorTime()
	start := time.Now()
	binary, err := g.Read(r.dir)
	if err != nil {
		return nil, err
	}
	engine, err := r.newEngine()
	if err != nil {
		return nil, err
	}
	a := &agent{engine: engine}
	defer func() { err = errors.Join(err, a.close()) }()
	plugin, err := load(ctx, engine, g, binary)
	if err != nil {
		return nil, err
	}
	plugin.Warm(ctx, []string{string(abi.HookAdmit)})
	took := time.Since(start)
	used = processorTime() - used
	a.guests = []*loaded{{plugin, question.Request(p)}}
	measured := series{"ready " + g.String(): {float64(took)}, "ready " + g.String() + " cpu": {float64(used)}}
	return measured, a.guests[0].decide(ctx)
}

// named returns the guest with that name.
func named(args []string) (guest.Guest, error) {
	for _, g := range guest.All() {
		if len(args) == 1 && g.String() == args[0] {
			return g, nil
		}
	}
	return guest.Guest{}, fmt.Errorf("%q: want the name of one guest", args)
}
