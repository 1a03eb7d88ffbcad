package agent

import (
	"context"
	"errors"
	"time"

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
		Pods: a, PodChanges: &a.podChanges, Metrics: a.meters.Handler(), Sources: a.mux, Events: a.events, Waiting: a.asking(), Updates: a.mux, Foreign: a.runtime,
		Version: server.NewVersion(a.version), Logger: a.log, Node: a.node, Origins: a.origins, Verdicts: a.verdicts, Now: time.Now, Started: time.Now(),
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
		stages = append(stages, stage{"metrics", endless(func(ctx context.Context) { a.meters.Serve(ctx, address) })})
	}
	if a.reload != nil {
		stages = append(stages, stage{"configuration", a.reload.run})
	}
	if a.policies != nil {
		stages = append(stages, stage{"policies", a.policies.Run}, stage{"adoption", a.adoption.run})
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
