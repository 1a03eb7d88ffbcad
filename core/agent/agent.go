package agent

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/gc"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/source"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/worker"
)

// Agent has the parts that every agent has, wired and not yet running. They cover the path of a pod
// from the documents of its sources to its containers, and the way back.
type Agent struct {
	cfg      *config.Config
	deps     *Deps
	statuses *status.Store
	cache    *pleg.Cache
	pleg     *pleg.Generator
	// waits holds the versions of pods that policy does not let pass.
	waits   *admission.Waits
	workers *worker.Pool
	mux     *mux.Mux
	sources []source.Source
	loop    *syncloop.Loop
	garbage *gc.Collector
}

// New wires an agent.
func New(cfg *config.Config, d *Deps) (*Agent, error) {
	a := &Agent{cfg: cfg, deps: d, statuses: d.Statuses, cache: pleg.NewCache()}
	a.waits = admission.NewWaits(a.statuses, d.Events, d.Now)
	a.pleg = pleg.New(a.plegConfig())
	a.workers = worker.New(a.workerConfig())
	merging, err := a.muxConfig()
	if err != nil {
		return nil, err
	}
	a.mux = mux.New(merging)
	for i := range cfg.Sources {
		s := &cfg.Sources[i]
		sink, err := a.mux.Sink(s.Name)
		if err != nil {
			return nil, err
		}
		source, err := d.Source(s, sink)
		if err != nil {
			return nil, fmt.Errorf("source %s: %w", s.Name, err)
		}
		a.sources = append(a.sources, source)
	}
	a.loop = syncloop.New(a.loopConfig())
	a.garbage = gc.New(a.gcConfig())
	return a, nil
}

func (a *Agent) plegConfig() pleg.Config {
	c := a.deps.PLEG
	c.Cache, c.Logger, c.Now = a.cache, a.deps.Logger, a.deps.Now
	return c
}

func (a *Agent) workerConfig() worker.Config {
	d := a.deps
	c := d.Workers
	c.Cache, c.Inspector, c.Statuses, c.Reasons, c.Events, c.Layout = a.cache, a.pleg, a.statuses, status.NewReasonCache(), d.Events, d.Layout
	c.Volumes, c.Cgroups = &awaitedVolumes{d.Workers.Volumes, a}, &endedCgroups{d.Workers.Cgroups, a}
	c.SyncFrequency, c.Outcomes, c.OnRemoved = a.cfg.Sync.Frequency, d.Outcomes, a.removed
	c.Log, c.Now, c.Jitter = d.Logger, d.Now, d.Jitter
	return c
}

// muxConfig returns the configuration of the mux: all sources, the disk, and policy if there is
// any.
func (a *Agent) muxConfig() (mux.Config, error) {
	d := a.deps
	c := d.Mux
	c.Waits, c.Jitter, c.Running, c.Logger, c.Now = a.waits, d.Jitter, a.isRunning, d.Logger, d.Now
	c.StopDenied = reload.StopsDenied(a.cfg)
	for i := range a.cfg.Sources {
		s := &a.cfg.Sources[i]
		c.Sources = append(c.Sources, mux.Source{Name: s.Name, Kind: s.Kind, Location: s.Location()})
	}
	if a.cfg.Conflicts.Rule == config.ConflictsPrecedence {
		c.Precedence = a.cfg.Conflicts.Precedence
	}
	if d.Policies == nil {
		return c, nil
	}
	err := d.Policies(a, &c)
	return c, err
}

func (a *Agent) loopConfig() syncloop.Config {
	d := a.deps
	c := d.Loop
	c.Updates, c.Sources, c.Desired, c.PLEG = a.mux.Updates(), parts.SourceNames(a.cfg), a.mux, a.pleg
	c.Workers = a.workers
	if d.Observe != nil {
		c.Workers = d.Observe(a.workers)
	}
	c.Health = append(c.Health, a.pleg.Healthy)
	c.Statuses, c.Events, c.Outcomes, c.Log, c.Now = shownStatuses{a.statuses, a.waits}, d.Events, d.Outcomes, d.Logger, d.Now
	return c
}

func (a *Agent) gcConfig() gc.Config {
	c := a.deps.Garbage
	c.Pods, c.Over, c.Ended, c.Known = removable{a.loop, a.mux, a.workers}, a.over, a.workers.KnownTerminated, a.knownPods
	c.Layout, c.Log = a.deps.Layout, a.deps.Logger
	return c
}

// isRunning reports whether containers of a pod run.
func (a *Agent) isRunning(uid types.UID) bool {
	st, ok := a.statuses.Get(uid)
	return ok && st.Phase == v1.PodRunning
}

// Stages returns the parts that run for as long as the agent does, in the order they
// start. They stop in the reverse order, each one waited for.
func (a *Agent) Stages() []Stage {
	return append(append(a.runtimeStages(), a.podStages()...), a.sourceStages()...)
}

func (a *Agent) runtimeStages() []Stage {
	return []Stage{{"pleg", a.pleg.Run}, {"garbage collection", endless(a.garbage.Run)}}
}

func (a *Agent) podStages() []Stage {
	return []Stage{{"workers", a.runWorkers}, {"sync loop", a.loop.Run}}
}

func (a *Agent) sourceStages() []Stage {
	stages := []Stage{{"mux", a.mux.Run}}
	for i, s := range a.sources {
		stages = append(stages, Stage{"source " + a.cfg.Sources[i].Name, s.Run})
	}
	return stages
}

// runWorkers waits until ctx ends, and then stops the workers and the garbage collection, which
// have runtime calls in flight. There is nothing to start: a worker starts with the first request
// for its pod.
func (a *Agent) runWorkers(ctx context.Context) error {
	<-ctx.Done()
	ending, cancel := a.deps.CallsEnd(context.WithoutCancel(ctx))
	defer cancel()
	finishCalls(ending, a.workers, a.garbage)
	return ctx.Err()
}

// Sources returns the states of the agent's sources.
func (a *Agent) Sources() []api.SourceState { return a.mux.Sources() }

// Wanted reports whether a source has the pod.
func (a *Agent) Wanted(uid types.UID) bool { return a.mux.Wanted(uid) }

// Waiting returns the versions of pods that policy does not let pass.
func (a *Agent) Waiting() []api.Waiting { return a.waits.List() }

// Deps are the dependencies of an Agent: the machine, or a simulation of it. The configurations of
// parts have the values that such a part takes from the dependencies. New adds the values that the
// parts take from each other and from the configuration.
type Deps struct {
	Logger *slog.Logger
	// Now is the wall clock; its times carry a monotonic reading.
	Now func() time.Time
	// Jitter extends a delay by a random share, see worker.Config.
	Jitter   func(time.Duration) time.Duration
	Layout   pod.Layout
	Statuses *status.Store
	Events   status.Recorder
	PLEG     pleg.Config
	// Workers' OnRemoved is called after the pod's waits and outcome are forgotten, and before the
	// garbage collection of its remains.
	Workers worker.Config
	// Outcomes keep the outcomes of pods across restarts.
	Outcomes Outcomes
	// Mux has Documents and Changed. Policies adds the fields that judge pods, after the agent's other
	// parts are made. It is nil for an agent that admits everything.
	Mux      mux.Config
	Policies func(a *Agent, c *mux.Config) error
	// Source makes a source of the configuration.
	Source func(s *config.Source, sink *mux.Sink) (source.Source, error)
	Loop   syncloop.Config
	// Observe returns the workers that the sync loop uses; nil for the pool itself.
	Observe func(w *worker.Pool) syncloop.Workers
	Garbage gc.Config
	// CallsEnd limits how long calls to the runtime may continue after the agent began to stop.
	CallsEnd func(ctx context.Context) (context.Context, context.CancelFunc)
}

// Outcomes keep the outcomes of pods across restarts of the agent.
type Outcomes interface {
	worker.Outcomes
	syncloop.Outcomes
}
