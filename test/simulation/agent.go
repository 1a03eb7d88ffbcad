package simulation

import (
	"context"
	"log/slog"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	product "github.com/wardlet/wardlet/core/agent"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/gc"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/probe"
	coresource "github.com/wardlet/wardlet/core/source"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/worker"
)

// agent is one life of the agent: core/agent, on a world instead of a machine.
type agent struct {
	*link
	*product.Agent
	gate     *gate
	filter   *filter
	statuses *status.Store
	stages   []stage
	// stopping is true once the parts have to end. It is guarded by the world's lock.
	stopping bool
}

// stage is a part that runs for as long as the agent does.
type stage struct {
	name   string
	cancel context.CancelFunc
	done   chan struct{}
}

// newAgent makes an agent and starts it.
func newAgent(w *world) (*agent, error) {
	a := &agent{link: &link{
		world: w, gone: make(chan struct{}), endings: map[types.UID]*ending{}, after: map[types.UID]types.UID{},
		killing: map[types.UID]time.Time{}, hooking: map[types.UID]int{}, preStopped: map[string]bool{},
	}}
	log, now, vols := slog.New(&faultLog{w}), w.clock.now, volumes{a.link}
	a.statuses = status.NewStore()
	kept := &outcomes{link: a.link, lives: map[types.UID]lived{}}
	events := status.NewEventBuffer(50, time.Minute, now)
	probes := probe.New(probe.Config{
		Runner: handlers{a.link}, Statuses: a.statuses, Save: kept.Save, Events: events, Owner: func(p *v1.Pod) string { return p.Namespace },
		Spread: func(d time.Duration) time.Duration {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.between("spread", 0, d)
		},
		Now: now, Log: log,
	})
	made, err := product.New(w.configuration(), &product.Deps{
		Logger: log, Now: now, Jitter: w.jitter, Layout: pod.Layout{PodRoot: "/nowhere/pods", LogRoot: "/nowhere/logs"},
		Statuses: a.statuses, Events: events,
		PLEG: pleg.Config{Runtime: a.link},
		Workers: worker.Config{
			Runtime: a.link, Images: images{a.link}, Volumes: vols, Cgroups: cgroups{a.link}, RuntimeName: "simulated", Hash: hash, OnRemoved: a.left,
			Probes: probes, Hooks: handlers{a.link},
		},
		Outcomes: kept, Mux: mux.Config{Documents: documents{a.link}}, Policies: a.judge, Source: a.source,
		Loop:     syncloop.Config{Probes: probes, Health: []func() error{a.Healthy}, Admitter: admission.Chain{admission.StoredVerdict{}}, Begun: a.begun},
		Observe:  a.watchedWorkers,
		Garbage:  gc.Config{Runtime: a.link, Volumes: vols, Cgroups: cgroups{a.link}},
		CallsEnd: a.untilGone,
	})
	if err != nil {
		return nil, err
	}
	a.Agent, kept.wanted = made, made.Wanted
	w.mu.Lock()
	w.agent = a.link
	for _, s := range w.sources {
		s.pods = nil
	}
	w.mu.Unlock()
	for _, s := range w.sources {
		s.poke()
	}
	a.run("probes", func(ctx context.Context) error {
		probes.Run(ctx)
		return ctx.Err()
	})
	for _, s := range made.Stages() {
		a.run(s.Name, s.Run)
	}
	return a, nil
}

// configuration returns the configuration that agent.toml would have.
func (w *world) configuration() *config.Config {
	c := config.Default()
	c.Sync.Frequency, c.Sources = w.set.frequency, nil
	if w.set.stopDenied {
		c.Sync.OnDeniedReplacement = config.DeniedStop
	}
	for _, name := range sourceNames {
		c.Sources = append(c.Sources, config.Source{Name: name, Kind: name})
	}
	if w.set.precedence {
		c.Conflicts.Rule, c.Conflicts.Precedence = config.ConflictsPrecedence, sourceNames
	}
	return c
}

// watchedWorkers wraps the workers for the sync loop, to record its requests.
func (a *agent) watchedWorkers(pool *worker.Pool) syncloop.Workers {
	a.pool = pool
	return &requests{pool, a.link}
}

// judge adds the gate and the filter.
func (a *agent) judge(_ *product.Agent, c *mux.Config) error {
	if a.world.set.gated {
		a.gate = newGate(a.link)
		c.Gate = a.gate
	}
	if a.world.set.filtered {
		a.filter = &filter{a.link, make(chan struct{}, 1)}
		c.Filter = a.filter
	}
	return nil
}

// source makes the reader of a source of the world.
func (a *agent) source(s *config.Source, sink *mux.Sink) (coresource.Source, error) {
	i := slices.IndexFunc(a.world.sources, func(x *source) bool { return x.name == s.Name })
	return &reader{link: a.link, source: a.world.sources[i], sink: sink}, nil
}

// untilGone returns a context that is canceled when the agent is killed.
func (a *agent) untilGone(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-a.gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// begun reports whether the pod has a directory on the node.
func (a *agent) begun(uid types.UID) bool {
	a.world.mu.Lock()
	defer a.world.mu.Unlock()
	_, has := a.world.runtime.directories[uid]
	return has
}

// run starts a part. It is a violation if the part returns by itself.
func (a *agent) run(name string, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	s := stage{name, cancel, make(chan struct{})}
	a.stages = append(a.stages, s)
	go func() {
		defer close(s.done)
		err := run(ctx)
		a.world.mu.Lock()
		defer a.world.mu.Unlock()
		if ctx.Err() == nil && !a.stopping {
			a.world.violated("%s has ended: %v", name, err)
		}
	}()
}

// stop stops the agent as a signal does: it stops the parts in reverse order and waits for
// each.
func (a *agent) stop() {
	a.world.mu.Lock()
	a.stopping = true
	a.world.mu.Unlock()
	for _, s := range slices.Backward(a.stages) {
		a.world.mu.Lock()
		a.world.doubt()
		a.world.mu.Unlock()
		s.cancel()
		<-s.done
	}
	a.end()
}

// kill ends the agent at once: nothing that it still does has any effect.
func (a *agent) kill() {
	a.end()
	close(a.gone)
	for _, s := range a.stages {
		s.cancel()
	}
	for _, s := range a.stages {
		<-s.done
	}
}

// end marks this life of the agent as ended.
func (a *agent) end() {
	w := a.world
	w.mu.Lock()
	defer w.mu.Unlock()
	a.dead, a.stopping, w.agent = true, true, nil
	w.doubt()
}

// jitter stretches a delay by up to half of it.
func (w *world) jitter(d time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return d + w.between("jitter", 0, d/2)
}

// faultLog receives the agent's log. Some messages report a fault of the agent itself.
type faultLog struct{ world *world }

// faults are the messages that report a fault of the agent.
var faults = []string{
	"a pod without a verdict was stopped before the workers; this is a fault of the agent", "a pod that is shared was changed",
	"request without a pod can only kill what the runtime shows; dropped", "change of an unknown kind ignored",
	"update ignored: policy rejects it; the pod stays as it is",
}

// Enabled implements slog.Handler.
func (f *faultLog) Enabled(_ context.Context, l slog.Level) bool {
	return l >= slog.LevelError || f.world.tracing
}

// Handle implements slog.Handler.
func (f *faultLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	f.world.mu.Lock()
	defer f.world.mu.Unlock()
	f.world.note("log: %s", text)
	if slices.Contains(faults, r.Message) {
		f.world.violated("the agent says: %s", text)
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (f *faultLog) WithAttrs([]slog.Attr) slog.Handler { return f }

// WithGroup implements slog.Handler.
func (f *faultLog) WithGroup(string) slog.Handler { return f }

// status returns the status that an agent reports for a pod.
func (a *agent) status(uid types.UID) v1.PodStatus {
	st, _ := a.statuses.Get(uid)
	return st
}
