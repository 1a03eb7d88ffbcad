package agent

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/checkpoint"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/gc"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/systemd"
	"github.com/wardlet/wardlet/core/volume"
	"github.com/wardlet/wardlet/core/worker"
)

// Options are what an Agent takes from the command beside its configuration.
type Options struct {
	Logger *slog.Logger
	// Version is the release, empty for a build that is none.
	Version string
	// Reload is nil for an agent that does not follow its configuration.
	Reload *Reload
	// LookupEnv gives variables of the environment, by which a service manager says
	// where it is told how the agent is; nil for nobody.
	LookupEnv func(name string) (value string, ok bool)
}

// Agent is one node agent, wired and not yet running.
type Agent struct {
	cfg     *config.Config
	version string
	log     *slog.Logger
	node    string
	// machine is what pods and policies know of the node. It does not change.
	machine *v1.Node

	state    *state.Dir
	client   *runtime.Client
	health   *runtime.Status
	runtime  *runtime.Runtime
	events   *status.Ring
	recorder status.Recorder
	statuses *status.Store
	pleg     *pleg.Generator
	workers  *worker.Pool
	mux      *mux.Mux
	loop     *syncloop.Loop
	garbage  *gc.Collector
	sources  []runner
	removals *removals
	outcomes *checkpoint.Outcomes
	endings  *checkpoint.Endings
	cache    *pleg.Cache
	// waits knows what policy does not let pass; policies and adoption are nil
	// for an agent without policies.
	waits    *admission.Waits
	policies *policy.Plane
	// decisions is what is on record of decisions; nil where there are no policies.
	decisions *state.DecisionLog
	// engine runs the plugins of policies; nil where there are none.
	engine   *wasm.Engine
	adoption *adoption
	// reload is nil where there is no file to follow.
	reload *reloader
	meters *meters
	// podChanges tells when PodList, or what waits, may be another than before.
	podChanges status.Notifier
	// cgroupLock is nil before Run, and where there is none.
	cgroupLock io.Closer
	// notify is nil where no service manager is to be told how the agent is.
	notify *systemd.Notifier
}

// eventWindow is for how long an event that happens again only raises a counter.
const eventWindow = 10 * time.Minute

// New wires an agent. It takes the state directory, which no other agent may
// use until Run has ended, and nothing else: the runtime need not be there.
func New(cfg *config.Config, opts Options) (_ *Agent, err error) {
	a := &Agent{cfg: cfg, version: opts.Version, log: opts.Logger}
	a.state, err = state.Open(cfg.Paths.StateRoot, a.log, state.WithIdentity(layoutOf(cfg).IdentityDir()))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	name, differs, err := a.state.NodeName(cfg.NodeName, os.Hostname)
	if err != nil {
		return nil, err
	}
	if differs != "" {
		a.log.Warn("node name differs", "node", name, "detail", differs)
	}
	a.node = name
	a.wireNotify(opts.LookupEnv)
	if err := a.wire(); err != nil {
		return nil, err
	}
	a.wireReload(opts.Reload)
	return a, nil
}

func layoutOf(cfg *config.Config) pod.Layout {
	return pod.Layout{PodRoot: cfg.Paths.PodRoot, LogRoot: cfg.Paths.LogRoot}
}

// wire makes every part, what others stand on first.
func (a *Agent) wire() error {
	cfg, log, now := a.cfg, a.log, time.Now
	layout := layoutOf(cfg)
	if err := a.describeNode(); err != nil {
		return err
	}
	memory := a.machine.Status.Capacity.Memory().Value()
	cgroups, err := node.NewCgroups(node.Driver(cfg.Runtime.CgroupDriver), cfg.Paths.CgroupRoot)
	if err != nil {
		return err
	}
	volumes, err := volume.New(layout, memory)
	if err != nil {
		return err
	}
	a.meters = a.newMeters(cgroups.V2())
	a.client, err = runtime.Dial(cfg.Runtime.Endpoint, cfg.Runtime.RequestTimeout, runtime.WithObserver(a.meters.operations))
	if err != nil {
		return err
	}

	a.events = status.NewSharedRing(eventShare(len(cfg.Tenants)), eventWindow, now, a.meters.tenants.Of)
	recorder := status.Multi{status.NewLog(log), a.events, a.meters.events}
	a.recorder = recorder
	a.statuses = status.NewStore()
	a.statuses.Tell(a.podChanges.Notify)
	a.health = runtime.NewStatus(a.client, log, now)
	a.runtime = runtime.New(runtime.Config{
		Client: a.client, Status: a.health, Installation: a.state.Installation(), AdoptForeign: cfg.Runtime.AdoptForeign, Layout: layout,
		ResolvConf: cfg.Runtime.ResolvConf, HostsFile: "/etc/hosts", MemoryCapacity: memory, CgroupV2: cgroups.V2(), CgroupDriver: cfg.Runtime.CgroupDriver,
		Events: recorder, Logger: log, Now: now,
	})
	a.cache = pleg.NewCache()
	a.pleg = pleg.New(pleg.Config{Runtime: a.runtime, Cache: a.cache, Observer: a.meters.pleg, Logger: log, Now: now})

	a.waits = admission.NewWaits(a.statuses, recorder, now)
	a.outcomes = checkpoint.NewOutcomes(a.state.Outcomes(), log)
	a.endings = checkpoint.NewEndings(a.state.Endings(), log)
	a.removals = &removals{waits: a.waits, outcomes: a.outcomes}
	a.workers = worker.New(worker.Config{
		Runtime: meteredRuntime{a.runtime, a.meters.workers}, Images: meteredImages{a.runtime, a.meters.workers}, Volumes: &awaitedVolumes{Volumes: volumes, removals: a.removals},
		Cgroups: &endedCgroups{podCgroups: meteredCgroups{cgroups, a.meters.cgroups}, removals: a.removals}, Cache: a.cache, Inspector: a.pleg,
		Statuses: a.statuses, Reasons: status.NewReasonCache(), Events: recorder,
		RuntimeName: runtimeName, Layout: layout, Hash: runtime.ContainerHash,
		SyncFrequency: cfg.Sync.Frequency, Gone: a.removals.workerGone, Outcomes: meteredOutcomes{a.outcomes, a.meters, a.statuses.Get}, Endings: a.endings, ActiveFor: a.outcomes.ActiveFor, Observer: a.meters.workers, Log: log, Now: now, Jitter: jitter,
	})

	a.endings.Remains = a.remains

	if err := a.wirePolicies(); err != nil {
		return err
	}
	merging := a.muxConfig()
	merging.Filter = a.filter()
	a.mux = mux.New(merging)
	if a.sources, err = a.makeSources(); err != nil {
		return err
	}
	a.loop = syncloop.New(syncloop.Config{
		Updates: a.mux.Updates(), Sources: sourceNames(cfg), Desired: a.mux, PLEG: a.pleg, Workers: meteredWorkers{a.workers, a.meters},
		Statuses: shownStatuses{a.statuses, a.waits}, Events: recorder, Health: []func() error{a.health.Healthy, a.pleg.Healthy},
		Admitter: a.meteredAdmitter(), Begun: a.begun, Outcomes: a.outcomes, Observer: a.meters.rejections, Log: log, Now: now,
	})
	a.garbage = gc.New(gc.Config{
		Runtime: a.runtime, Volumes: volumes, Cgroups: leftCgroups{cgroups, volumes.Owner, cgroups.End, a.runtime.Idle}, Pods: removable{a.loop, a.mux, a.workers},
		Over: a.over, Known: a.knownPods, Layout: layout, Log: log,
	})
	a.removals.collector = a.garbage
	a.outcomes.Wanted, a.outcomes.Removable = a.mux.Wanted, a.loop.Removable
	return nil
}

// Run works until ctx ends, which is no error, or until a part fails. Every
// pod is left running. It must be called once.
func (a *Agent) Run(ctx context.Context) error {
	defer a.close()
	stages, err := a.stages()
	if err != nil {
		return err
	}
	a.log.Info("agent starts", "node", a.node, "runtime", a.client.Endpoint(), "version", a.version)
	err = runStages(ctx, stages)
	a.log.Info("agent has stopped; pods run on")
	return err
}

func (a *Agent) close() {
	if a.client != nil {
		a.client.Close()
	}
	if a.engine != nil {
		if err := a.engine.Close(); err != nil {
			a.log.Warn("the sandbox of plugins was not closed cleanly", "err", err)
		}
	}
	if a.decisions != nil {
		if err := a.decisions.Close(); err != nil {
			a.log.Warn("the log of decisions was not closed cleanly", "err", err)
		}
	}
	if a.cgroupLock != nil {
		if err := a.cgroupLock.Close(); err != nil {
			a.log.Warn("failed to release the lock of the cgroup root", "err", err)
		}
	}
	if err := a.state.Close(); err != nil {
		a.log.Warn("state directory was not given back", "err", err)
	}
}

// jitter stretches a delay by up to half of it, so that what was started
// together does not come back together.
func jitter(d time.Duration) time.Duration {
	return d + time.Duration(rand.Float64()*0.5*float64(d)) //nolint:gosec // no secret depends on it
}
