package agent

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/admission/gate"
	"github.com/wardlet/wardlet/core/adopt"
	"github.com/wardlet/wardlet/core/checkpoint"
	"github.com/wardlet/wardlet/core/cluster"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/eviction"
	"github.com/wardlet/wardlet/core/gc"
	"github.com/wardlet/wardlet/core/handler"
	"github.com/wardlet/wardlet/core/image"
	"github.com/wardlet/wardlet/core/image/unused"
	"github.com/wardlet/wardlet/core/instrument"
	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/metrics"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/object"
	"github.com/wardlet/wardlet/core/oom"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pleg"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/probe"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/core/shutdown"
	"github.com/wardlet/wardlet/core/source"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/state/decisions"
	"github.com/wardlet/wardlet/core/stats"
	"github.com/wardlet/wardlet/core/stats/kernel"
	"github.com/wardlet/wardlet/core/status"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/systemd"
	"github.com/wardlet/wardlet/core/volume"
	"github.com/wardlet/wardlet/core/worker"
)

// Options are the values that a Node gets from the command beside its configuration.
type Options struct {
	Logger *slog.Logger
	// Version is the release, empty for a build that is no release.
	Version string
	// Reload is nil for an agent that does not follow its configuration.
	Reload *reload.Reload
	// LookupEnv looks up environment variables. A service manager names in them the socket to which
	// the agent reports its state. If it is nil, the agent reports its state to no service manager.
	LookupEnv func(name string) (value string, ok bool)
}

// Node is an agent on a node, wired and not yet running. It has the agent's dependencies, the parts
// that report about the agent, and the part that follows the configuration.
type Node struct {
	*Agent
	cfg     *config.Config
	version string
	log     *slog.Logger
	node    string
	// object is the description of the node for pods, policies and the cluster.
	object    *node.Object
	lastFacts atomic.Pointer[allocatableOf]

	state    *state.Dir
	cgroups  *node.Cgroups
	client   *runtime.Client
	probes   *probe.Manager
	health   *runtime.Health
	images   *image.Puller
	runtime  *runtime.Runtime
	volumes  *volume.Volumes
	events   *status.EventBuffer
	recorder status.Recorder
	outcomes *checkpoint.Outcomes
	endings  *checkpoint.Endings
	// policies and adoption are nil for an agent without policies.
	policies *policy.Engine
	// decisions is the record of decisions; nil without policies.
	decisions *decisions.Log
	// engine runs the plugins of policies; nil without policies.
	engine   *wasm.Engine
	adoption *gate.Adoption
	// reload is nil without a file to follow.
	reload *reload.Reloader
	meters *instrument.Meters
	stats  *stats.Stats
	// podChanges notifies when PodList, or the list of waiting pods, may have changed.
	podChanges status.Notifier
	// cgroupLock is nil before Run, and if the lock could not be made.
	cgroupLock io.Closer
	// apiClient, member and apiEvents are nil for an agent that is no node of a cluster.
	apiClient *kube.Client
	// certificates are the node's own that the agent renews.
	certificates parts.Certificates
	// adopter is nil if pods of a kubelet are not adopted.
	adopter *adopt.Adopter
	// reviewClient authenticates and authorizes callers of the node's API; nil if that API is not
	// served.
	reviewClient *kube.Client
	member       *cluster.Member
	named        namedAddress
	objects      *object.Objects
	eviction     *eviction.Manager
	limits       *eviction.Limits
	unusedImages *unused.Collector
	apiEvents    *cluster.Events
	// notify is nil without a service manager to notify.
	notify *systemd.Notifier
	// shutdown is nil if a shutdown of the machine does not wait for pods.
	shutdown *shutdown.Manager
	oom      *oom.Watcher
}

// eventWindow is the time within which a repeated event only increases a counter.
const eventWindow = 10 * time.Minute

// Open makes the agent of this node. It locks the state directory until Run returns, and uses no
// other resource: the runtime need not be running.
func Open(cfg *config.Config, opts Options) (_ *Node, err error) {
	n := &Node{cfg: cfg, version: opts.Version, log: opts.Logger}
	n.state, err = state.Open(cfg.Paths.StateRoot, n.log, state.WithIdentity(parts.Layout(cfg).IdentityDir()))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	name, differs, err := n.state.NodeName(cfg.NodeName, os.Hostname)
	if err != nil {
		return nil, err
	}
	if differs != "" {
		n.log.Warn("node name differs", "node", name, "detail", differs)
	}
	n.node = name
	n.wireNotify(opts.LookupEnv)
	if err := n.wireObjects(opts.LookupEnv); err != nil {
		return nil, err
	}
	if err := n.wire(); err != nil {
		return nil, err
	}
	n.wireReload(opts.Reload)
	return n, nil
}

// wire makes the dependencies of the agent, and the agent.
func (n *Node) wire() error {
	cfg, log, now := n.cfg, n.log, time.Now
	layout := parts.Layout(cfg)
	if err := n.describeNode(); err != nil {
		return err
	}
	memory := n.object.Node().Status.Capacity.Memory().Value()
	pageSizes, err := node.PageSizes()
	if err != nil {
		return err
	}
	cgroups, err := n.newCgroups()
	if err != nil {
		return err
	}
	n.cgroups = cgroups
	n.volumes, err = volume.New(layout, memory, n.objects, func() v1.ResourceList { return n.object.Node().Status.Allocatable }, n.recursiveReadOnly)
	if err != nil {
		return err
	}
	var lists *metrics.PLEG
	n.meters, lists = n.newMeters(cgroups.V2())
	n.client, err = runtime.Dial(cfg.Runtime.Endpoint, cfg.Runtime.RequestTimeout, runtime.WithObserver(n.meters.Operations))
	if err != nil {
		return err
	}

	n.events = status.NewEventBufferPerOwner(eventShare(len(cfg.Tenants)), eventWindow, now, n.meters.Tenants.Of)
	recorders := status.MultiRecorder{status.NewLogRecorder(log), n.events, n.meters.Events}
	if n.apiClient != nil {
		aside, err := n.apiClient.OwnRate() // statuses do not wait for events
		if err != nil {
			return err
		}
		n.apiEvents = cluster.NewEvents(cluster.EventConfig{Client: aside, Node: n.node, Owner: n.meters.Tenants.Of, Now: now, Log: log})
		recorders = append(recorders, inCluster{n})
	}
	n.recorder = recorders
	statuses := status.NewStore()
	statuses.OnChange(n.statusChanged)
	n.health = runtime.NewHealth(n.client, n.runtimeFeatures, log, now)
	n.runtime = runtime.New(runtime.Config{
		Config: criconfig.Config{
			Installation: n.state.Installation(), Layout: layout, ResolvConf: cfg.Runtime.ResolvConf, ClusterDNS: cfg.Cluster.DNS, ClusterDomain: clusterDomain(cfg),
			Node: n.object.Node, Objects: n.objects, ReadFile: n.volumes.ReadFile, SeccompDefault: cfg.Runtime.SeccompDefault, MemoryCapacity: memory, PageSizes: pageSizes, CgroupV2: cgroups.V2(), Swap: n.swap(),
			SingleProcessOOMKill: cfg.Node.SingleProcessOOMKill, MemoryQoS: n.memoryQoS(),
		},
		Client: n.client, Health: n.health, AdoptForeign: cfg.Runtime.AdoptForeign, HostsFile: "/etc/hosts", CgroupDriver: n.fixedDriver(),
		Handler: n.handler, Events: n.recorder, Logger: log, Now: now,
	})
	if cfg.Runtime.AdoptForeign {
		n.adopter = adopt.New(adopt.Config{ListPods: n.runtime.ListPods, Memory: n.state.Adopted(), Same: sameContainer, Logger: log})
	}
	counters, err := kernel.Open("/")
	if err != nil {
		return err
	}
	n.wireEviction(counters)
	n.unusedImages = n.newUnusedImages()
	n.wireStats(counters)
	n.certificates = parts.NewCertificates(cfg, parts.CertificateSetting{Node: n.node, Object: n.object.Node, API: n.apiClient, Logger: log, Now: now})
	n.wireMember()
	n.outcomes = checkpoint.NewOutcomes(n.state.Outcomes(), log)
	n.endings = checkpoint.NewEndings(n.state.Endings(), log)

	n.images = n.newPuller()

	runner := &handler.Runner{Exec: n.runtime.Exec, Expand: criconfig.ExpandStatic, Agent: "kube-probe/" + kube.MinorVersion}
	n.probes = probe.New(probe.Config{
		Runner:   runner,
		Statuses: statuses, Save: n.outcomes.Save, Events: n.recorder, Owner: func(p *v1.Pod) string { return n.meters.Tenants.Of(p.Namespace) },
		Spread: rand.N[time.Duration], Now: now, Log: log,
	})

	n.Agent, err = New(cfg, &Deps{
		Logger: log, Now: now, Jitter: parts.Jitter, Layout: layout, Statuses: statuses, Events: n.recorder,
		PLEG: pleg.Config{Runtime: n.runtime, Observer: lists},
		Workers: worker.Config{
			Runtime: instrument.Runtime{Runtime: n.runtime, Metrics: n.meters.Workers}, Images: instrument.Images{Images: n.images, Metrics: n.meters.Workers},
			Volumes: objectVolumes{n.volumes, n.objects, n.mayStart}, Cgroups: instrument.Cgroups{PodCgroups: cgroups, Metrics: n.meters.Cgroups},
			HostIPs: n.hostIPs, RecursiveReadOnly: n.recursiveReadOnly, RuntimeName: status.RuntimeName, Hash: criconfig.ContainerHash, Restore: criconfig.RestoreContainer, OnFinished: n.finished,
			Hooks: runner, Probes: n.probes, Terminations: n.endings, ActiveFor: n.outcomes.ActiveFor, Observer: n.meters.Workers, OnRemoved: n.workerRemoved,
		},
		Outcomes: instrument.Outcomes{Outcomes: n.outcomes, Meters: n.meters, Shown: statuses.Get},
		Mux:      mux.Config{Documents: n.state.Documents(), Changed: n.podChanges.Notify},
		Policies: n.wireJudging, Source: n.newSource,
		Loop:     syncloop.Config{Probes: n.probes, Health: []func() error{n.health.Healthy}, Admitter: n.meteredAdmitter(), Begun: n.begun, MirrorsChanged: n.mirrorsChanged, Observer: n.meters.Rejections},
		Observe:  func(w *worker.Pool) syncloop.Workers { return instrument.Workers{Workers: w, Meters: n.meters} },
		Garbage:  gc.Config{Runtime: n.runtime, Volumes: n.volumes, Cgroups: leftCgroups{cgroups, n.volumes.Owner, cgroups.End, n.runtime.Idle}},
		CallsEnd: endCalls,
	})
	if err != nil {
		return err
	}
	n.endings.Remains = n.remains
	n.outcomes.Wanted, n.outcomes.Removable = n.mux.Wanted, n.loop.Removable
	n.wireShutdown()
	n.wireOOM(cgroups)
	return nil
}

// sameContainer reports whether a container of a kubelet has a definition.
func sameContainer(o *status.ObservedContainer, c *v1.Container) bool {
	return criconfig.OfKubelet(o.Annotations, c)
}

// newSource makes a source of the configuration.
func (n *Node) newSource(s *config.Source, sink *mux.Sink) (source.Source, error) {
	var to source.Sink = sink
	if n.adopter != nil && s.Kind != config.KindAPI {
		to = n.adopter.Sink(sink)
	}
	made, err := parts.NewSource(s, parts.SourceSetting{
		Node: n.node, Namespaces: n.cfg.Namespaces(s), API: n.apiClient, Sink: to, Ignored: sink.Ignored, Place: n.state.Place(s.Name), Log: n.log,
	})
	if err == nil && s.Kind == config.KindAPI {
		made = registeredSource{made, sink, n.member.Registered()}
	}
	return made, err
}

// Run works until ctx ends, which is no error, or until a part fails. Every pod is left running.
// Run must be called once.
func (n *Node) Run(ctx context.Context) error {
	defer n.close()
	stages, err := n.stages()
	if err != nil {
		return err
	}
	n.log.Info("agent starts", "node", n.node, "runtime", n.client.Endpoint(), "version", n.version)
	err = runStages(ctx, stages)
	n.log.Info("agent has stopped; pods keep running")
	return err
}

func (n *Node) close() {
	for _, client := range []*kube.Client{n.apiClient, n.reviewClient} {
		if client != nil {
			client.Close()
		}
	}
	if n.client != nil {
		n.client.Close()
	}
	if n.engine != nil {
		if err := n.engine.Close(); err != nil {
			n.log.Warn("the sandbox of plugins was not closed cleanly", "err", err)
		}
	}
	if n.decisions != nil {
		if err := n.decisions.Close(); err != nil {
			n.log.Warn("the log of decisions was not closed cleanly", "err", err)
		}
	}
	if n.cgroupLock != nil {
		if err := n.cgroupLock.Close(); err != nil {
			n.log.Warn("failed to release the lock of the cgroup root", "err", err)
		}
	}
	if err := n.state.Close(); err != nil {
		n.log.Warn("the lock of the state directory was not released", "err", err)
	}
}

// Child does the work of a process that the agent started to compile a plugin. isChild reports
// whether this process is one, and status is its exit code. Every program that makes an Agent, or
// checks a configuration, must call Child before anything else.
func Child() (status int, isChild bool) { return parts.Child() }
