package agent

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/admission/gate"
	"github.com/wardlet/wardlet/core/checkpoint"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/gc"
	"github.com/wardlet/wardlet/core/instrument"
	"github.com/wardlet/wardlet/core/metrics"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pleg"
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
	Reload *reload.Reload
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
	events   *status.EventBuffer
	recorder status.Recorder
	statuses *status.Store
	pleg     *pleg.Generator
	workers  *worker.Pool
	mux      *mux.Mux
	loop     *syncloop.Loop
	garbage  *gc.Collector
	sources  []parts.Source
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
	adoption *gate.Adoption
	// reload is nil where there is no file to follow.
	reload *reload.Reloader
	meters *instrument.Meters
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
	a.state, err = state.Open(cfg.Paths.StateRoot, a.log, state.WithIdentity(parts.Layout(cfg).IdentityDir()))
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

// wire makes every part, what others stand on first.
func (a *Agent) wire() error {
	cfg, log, now := a.cfg, a.log, time.Now
	layout := parts.Layout(cfg)
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
	var lists *metrics.PLEG
	a.meters, lists = a.newMeters(cgroups.V2())
	a.client, err = runtime.Dial(cfg.Runtime.Endpoint, cfg.Runtime.RequestTimeout, runtime.WithObserver(a.meters.Operations))
	if err != nil {
		return err
	}

	a.events = status.NewEventBufferPerOwner(eventShare(len(cfg.Tenants)), eventWindow, now, a.meters.Tenants.Of)
	recorder := status.MultiRecorder{status.NewLogRecorder(log), a.events, a.meters.Events}
	a.recorder = recorder
	a.statuses = status.NewStore()
	a.statuses.OnChange(a.podChanges.Notify)
	a.health = runtime.NewStatus(a.client, log, now)
	a.runtime = runtime.New(runtime.Config{
		Client: a.client, Status: a.health, Installation: a.state.Installation(), AdoptForeign: cfg.Runtime.AdoptForeign, Layout: layout,
		ResolvConf: cfg.Runtime.ResolvConf, HostsFile: "/etc/hosts", MemoryCapacity: memory, CgroupV2: cgroups.V2(), CgroupDriver: cfg.Runtime.CgroupDriver,
		Events: recorder, Logger: log, Now: now,
	})
	a.cache = pleg.NewCache()
	a.pleg = pleg.New(pleg.Config{Runtime: a.runtime, Cache: a.cache, Observer: lists, Logger: log, Now: now})

	a.waits = admission.NewWaits(a.statuses, recorder, now)
	a.outcomes = checkpoint.NewOutcomes(a.state.Outcomes(), log)
	a.endings = checkpoint.NewEndings(a.state.Endings(), log)
	a.removals = &removals{waits: a.waits, outcomes: a.outcomes}
	a.workers = worker.New(worker.Config{
		Runtime: instrument.Runtime{Runtime: a.runtime, Metrics: a.meters.Workers}, Images: instrument.Images{Images: a.runtime, Metrics: a.meters.Workers}, Volumes: &awaitedVolumes{Volumes: volumes, removals: a.removals},
		Cgroups: &endedCgroups{PodCgroups: instrument.Cgroups{PodCgroups: cgroups, Metrics: a.meters.Cgroups}, removals: a.removals}, Cache: a.cache, Inspector: a.pleg,
		Statuses: a.statuses, Reasons: status.NewReasonCache(), Events: recorder,
		RuntimeName: status.RuntimeName, Layout: layout, Hash: runtime.ContainerHash,
		SyncFrequency: cfg.Sync.Frequency, OnRemoved: a.removals.workerGone, Outcomes: instrument.Outcomes{Outcomes: a.outcomes, Meters: a.meters, Shown: a.statuses.Get}, Terminations: a.endings, ActiveFor: a.outcomes.ActiveFor, Observer: a.meters.Workers, Log: log, Now: now, Jitter: parts.Jitter,
	})

	a.endings.Remains = a.remains

	if err := a.wirePolicies(); err != nil {
		return err
	}
	a.mux = mux.New(a.muxConfig())
	if a.sources, err = a.makeSources(); err != nil {
		return err
	}
	a.loop = syncloop.New(syncloop.Config{
		Updates: a.mux.Updates(), Sources: parts.SourceNames(cfg), Desired: a.mux, PLEG: a.pleg, Workers: instrument.Workers{Workers: a.workers, Meters: a.meters},
		Statuses: shownStatuses{a.statuses, a.waits}, Events: recorder, Health: []func() error{a.health.Healthy, a.pleg.Healthy},
		Admitter: a.meteredAdmitter(), Begun: a.begun, Outcomes: a.outcomes, Observer: a.meters.Rejections, Log: log, Now: now,
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

// Child does the work of a process that the agent has started to compile a plugin, if
// this process is one: isChild reports so, and status is its exit code. Every program
// that makes an Agent, or checks a configuration, calls it before anything else.
func Child() (status int, isChild bool) { return parts.Child() }
