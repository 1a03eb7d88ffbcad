package agent

import (
	"context"
	"time"

	"github.com/wardlet/wardlet/core/server"
)

// stages lists the parts in the order they start.
func (a *Agent) stages() ([]stage, error) {
	listener, err := server.Listen(a.cfg.Paths.Socket)
	if err != nil {
		return nil, err
	}
	options := server.Options{
		Pods: a, Sources: a.mux, Events: a.events, Waiting: a.asking(), Updates: a.mux, Foreign: a.runtime,
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
		{"outcomes", a.outcomes.run},
		{"workers", a.runWorkers},
		{"sync loop", a.loop.Run},
		{"foreign pods", endless(a.watchForeign)},
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
	return stages, nil
}

// endless is a part that can end for no reason but ctx.
func endless(run func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		run(ctx)
		return ctx.Err()
	}
}

// runWorkers has nothing to do but to stop the workers in time: they start
// with the first request for their pod.
func (a *Agent) runWorkers(ctx context.Context) error {
	<-ctx.Done()
	a.workers.Stop(context.WithoutCancel(ctx))
	return ctx.Err()
}
