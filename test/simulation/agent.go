package simulation

import (
	"context"
	"log/slog"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/gc"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/worker"
)

// agent is one life of the agent: the parts of core/agent, wired in its order.
type agent struct {
	*link
	gate     *gate
	filter   *filter
	statuses *status.Store
	waits    *admission.Waits
	mux      *mux.Mux
	stages   []stage
	// stopping is true once the parts are told to end. It is guarded by the world's
	// lock.
	stopping bool
}

// stage is a part that runs for as long as the agent does.
type stage struct {
	name   string
	cancel context.CancelFunc
	done   chan struct{}
}

// newAgent wires an agent and starts it.
func newAgent(w *world) (*agent, error) {
	a := &agent{link: &link{world: w, gone: make(chan struct{}), endings: map[types.UID]*ending{}, after: map[types.UID]types.UID{}}}
	log, now, layout := slog.New(&faultLog{w}), w.clock.now, pod.Layout{PodRoot: "/nowhere/pods", LogRoot: "/nowhere/logs"}

	cache := pleg.NewCache()
	generator := pleg.New(pleg.Config{Runtime: a.link, Cache: cache, Logger: log, Now: now})
	a.statuses = status.NewStore()
	events := status.NewEventBuffer(50, time.Minute, now)
	a.waits = admission.NewWaits(a.statuses, events, now)
	kept := &outcomes{link: a.link, lives: map[types.UID]lived{}}
	vols := &volumes{link: a.link}
	// The garbage collection is made last, and asked before that by nobody.
	var garbage *gc.Collector
	a.pool = worker.New(worker.Config{
		Runtime: a.link, Images: images{a.link}, Volumes: vols, Cgroups: cgroups{a.link}, Cache: cache, Inspector: generator,
		Statuses: a.statuses, Reasons: status.NewReasonCache(), Events: events, RuntimeName: "simulated", Layout: layout, Hash: hash,
		SyncFrequency: w.set.frequency, Outcomes: kept, Log: log, Now: now, Jitter: w.jitter,
		OnRemoved: func(uid types.UID) {
			a.waits.Forgotten(uid)
			kept.Forget(uid)
			a.left(uid)
			garbage.Nudge()
		},
	})

	merging := mux.Config{Documents: documents{a.link}, Waits: a.waits, Jitter: w.jitter, StopDenied: w.set.stopDenied, Logger: log, Now: now}
	for _, name := range sourceNames {
		merging.Sources = append(merging.Sources, mux.Source{Name: name, Kind: name})
	}
	if w.set.gated {
		a.gate = newGate(a.link)
		merging.Gate = a.gate
	}
	if w.set.filtered {
		a.filter = &filter{a.link, make(chan struct{}, 1)}
		merging.Filter = a.filter
	}
	if w.set.precedence {
		merging.Precedence = sourceNames
	}
	a.mux = mux.New(merging)
	kept.wanted = a.mux.Wanted
	loop := syncloop.New(syncloop.Config{
		Updates: a.mux.Updates(), Sources: sourceNames, Desired: a.mux, PLEG: generator, Workers: &requests{a.pool, a.link},
		Statuses: shownStatuses{a.statuses, a.waits}, Events: events, Health: []func() error{a.Healthy, generator.Healthy},
		Admitter: admission.Chain{admission.StoredVerdict{}}, Begun: a.begun, Outcomes: kept, Log: log, Now: now,
	})
	garbage = gc.New(gc.Config{Runtime: a.link, Volumes: vols, Cgroups: cgroups{a.link}, Pods: loop, Layout: layout, Log: log})
	vols.collector = garbage

	w.mu.Lock()
	w.agent = a.link
	for _, s := range w.sources {
		s.pods = nil
	}
	w.mu.Unlock()
	a.run("pleg", generator.Run)
	a.run("garbage collection", func(ctx context.Context) error { garbage.Run(ctx); return nil })
	a.run("workers", func(ctx context.Context) error {
		<-ctx.Done()
		stopping, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		go func() {
			select {
			case <-a.gone:
				cancel()
			case <-stopping.Done():
			}
		}()
		a.pool.Stop(stopping)
		return nil
	})
	a.run("sync loop", loop.Run)
	a.run("mux", a.mux.Run)
	for _, s := range w.sources {
		sink, err := a.mux.Sink(s.name)
		if err != nil {
			return nil, err
		}
		s.poke()
		a.run("source "+s.name, (&reader{link: a.link, source: s, sink: sink}).run)
	}
	return a, nil
}

// begun reports whether there is something of a pod on the node.
func (a *agent) begun(uid types.UID) bool {
	a.world.mu.Lock()
	defer a.world.mu.Unlock()
	_, has := a.world.runtime.directories[uid]
	return has
}

// run starts a part. That it ends by itself must not be.
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

// stop ends the agent as a signal does: its parts in the reverse order, each one
// waited for.
func (a *agent) stop() {
	a.world.mu.Lock()
	a.stopping = true
	a.world.mu.Unlock()
	for _, s := range slices.Backward(a.stages) {
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

// end says that this life is over.
func (a *agent) end() {
	w := a.world
	w.mu.Lock()
	defer w.mu.Unlock()
	a.dead, a.stopping, w.agent = true, true, nil
}

// jitter stretches a delay by up to half of it.
func (w *world) jitter(d time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return d + w.between("jitter", 0, d/2)
}

// shownStatuses are statuses of which a pod that waits keeps its own.
type shownStatuses struct {
	*status.Store
	waits *admission.Waits
}

// DeleteEnded forgets a pod that has ended.
func (s shownStatuses) DeleteEnded(uid types.UID) {
	s.Store.DeleteEnded(uid)
	s.waits.Forgotten(uid)
}

// faultLog takes the agent's log, in which it may find that it is wrong itself.
type faultLog struct{ world *world }

// faults are what the agent says then.
var faults = []string{
	"a pod without a verdict was not handed on; this is a fault of the agent", "a pod that is shared was changed",
	"request without a pod can only kill what the runtime shows; dropped", "change of an unknown kind ignored",
	"update that policy does not let through ignored, the pod stays as it is",
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

// Delete forgets a pod.
func (s shownStatuses) Delete(uid types.UID) {
	s.Store.Delete(uid)
	s.waits.Forgotten(uid)
}

// status is what an agent says of a pod.
func (a *agent) status(uid types.UID) v1.PodStatus {
	st, _ := a.statuses.Get(uid)
	return st
}
