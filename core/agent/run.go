package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/server"
)

// stages lists the parts in the order they start.
func (a *Agent) stages() ([]stage, error) {
	if err := a.lockCgroups(); err != nil {
		return nil, err
	}
	listener, err := server.Listen(a.cfg.Paths.Socket)
	if err != nil {
		return nil, err
	}
	listener = server.Lasting(listener, a.cfg.Paths.Socket, a.log)
	options := server.Options{
		Pods: a, PodChanges: &a.podChanges, Metrics: a.meters.Metrics.Handler(), Sources: a.mux, Events: a.events, Waiting: a.asking(), Updates: a.mux, Foreign: a.runtime,
		Version: api.NewVersion(a.version), Logger: a.log, Node: a.node, Origins: a.origins, Verdicts: a.verdicts, Now: time.Now, Started: time.Now(),
	}
	if a.policies != nil {
		options.Policies = a.policies
	}
	api := server.New(options)
	api.ServeReload(func(ctx context.Context) (any, error) { return a.ReloadConfig(ctx) })
	stages := []stage{
		{"local API", func(ctx context.Context) error { return api.Serve(ctx, listener) }},
		{"runtime status", endless(a.health.Run)},
		{"pleg", a.pleg.Run},
		{"garbage collection", endless(a.garbage.Run)},
		{"outcomes", a.outcomes.Run},
		{"endings", a.endings.Run},
		{"workers", a.runWorkers},
		{"sync loop", a.loop.Run},
		{"foreign pods", endless(a.watchForeign)},
	}
	if address := a.cfg.Metrics.Listen; address != "" {
		stages = append(stages, stage{"metrics", endless(func(ctx context.Context) { a.meters.Metrics.Serve(ctx, address) })})
	}
	if a.reload != nil {
		stages = append(stages, stage{"configuration", a.reload.Run})
	}
	if a.policies != nil {
		stages = append(stages, stage{"policies", a.policies.Run}, stage{"adoption", a.adoption.Run})
	}
	stages = append(stages, stage{"mux", a.mux.Run})
	for i, s := range a.sources {
		stages = append(stages, stage{"source " + a.cfg.Sources[i].Name, s.Run})
	}
	return append(stages, stage{"watchdog", a.watchdog().Run}), nil
}

// lockCgroups keeps other agents from the cgroups of this one. Where there is no place
// for a lock it goes on without.
func (a *Agent) lockCgroups() error {
	lock, err := node.LockRoot(node.LocksDir, a.cfg.Paths.CgroupRoot)
	if errors.Is(err, node.ErrRootTaken) {
		return err
	}
	if err != nil {
		a.log.Warn("other agents are not kept from the cgroups of this one", "err", err)
		return nil
	}
	a.cgroupLock = lock
	return nil
}

// endless is a part that can end for no reason but ctx.
func endless(run func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		run(ctx)
		return ctx.Err()
	}
}

// runWorkers has nothing to do but to stop the workers in time, and with them what
// else has calls in flight: they start with the first request for their pod.
func (a *Agent) runWorkers(ctx context.Context) error {
	<-ctx.Done()
	finishCalls(context.WithoutCancel(ctx), a.workers, a.garbage)
	return ctx.Err()
}

// stage is a part that runs for as long as the agent does.
type stage struct {
	name string
	// run works until ctx ends. Coming back earlier is a failure.
	run func(ctx context.Context) error
}

// runStages starts all stages in order. When ctx ends, or one of them ends by
// itself, they are stopped in the reverse order, each one waited for. It gives
// the failure, nil where ctx was the reason.
func runStages(ctx context.Context, stages []stage) error {
	failed := make(chan error, len(stages))
	stops := make([]func(), 0, len(stages))
	for _, s := range stages {
		// A stage outlives ctx until it is its turn to stop.
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		var done sync.WaitGroup
		done.Go(func() {
			err := s.run(own)
			if own.Err() == nil {
				failed <- fmt.Errorf("%s ended: %w", s.name, errors.Join(err, errStage))
			}
		})
		stops = append(stops, func() { cancel(); done.Wait() })
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	for _, stop := range slices.Backward(stops) {
		stop()
	}
	return err
}

// errStage marks the end of a part that should have gone on.
var errStage = errors.New("it should run for as long as the agent does")

// callsTimeout is how long calls to the runtime may go on after the agent was told
// to end.
const callsTimeout = 10 * time.Second

// stopper is what has calls to the runtime in flight that change something. Stop
// begins no more of them and waits for those there are, at most until ctx ends.
type stopper interface {
	Stop(ctx context.Context)
}

// finishCalls stops all, at once: together they have callsTimeout.
func finishCalls(ctx context.Context, all ...stopper) {
	ctx, cancel := context.WithTimeout(ctx, callsTimeout)
	defer cancel()
	var stopping sync.WaitGroup
	for _, s := range all {
		stopping.Go(func() { s.Stop(ctx) })
	}
	stopping.Wait()
}
