package agent

import (
	"context"
	"os"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/cpu"
	"github.com/wardlet/wardlet/core/metrics"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/oom"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
	"github.com/wardlet/wardlet/core/shutdown"
	"github.com/wardlet/wardlet/core/stats"
	"github.com/wardlet/wardlet/core/stats/kernel"
	"github.com/wardlet/wardlet/core/worker"
)

// wireShutdown makes the part that delays shutdowns of the machine, if agent.toml has a time for
// that.
func (n *Node) wireShutdown() {
	var periods []shutdown.Period
	for _, p := range n.cfg.Node.ShutdownPeriods() {
		periods = append(periods, shutdown.Period(p))
	}
	if len(periods) == 0 {
		return
	}
	n.shutdown = shutdown.New(shutdown.Config{
		Periods: periods, Priority: criticality(n.cfg, n.node).Rank, Pods: &shutdownPods{node: n},
		Connect:  connectLogind,
		DropIn:   shutdown.DropIn,
		Times:    n.state.Shutdowns(),
		Changed:  n.shutdownChanged,
		Record:   func(message string) { n.nodeEvent(v1.EventTypeNormal, "NodeShutdown", message) },
		Observer: n.meters.Metrics.Shutdowns(), Log: n.log, Now: time.Now,
	})
}

// connectLogind connects to logind on the system bus.
func connectLogind(ctx context.Context) (shutdown.Logind, error) {
	bus, err := shutdown.Connect(ctx, "")
	if err != nil {
		return nil, err
	}
	return bus, nil
}

// resolvConfPeriod is the time between two checks of the node's resolver configuration, as with a
// kubelet.
const resolvConfPeriod = 30 * time.Second

// watchResolvConf records an event about the node when pods cannot have everything that the node's
// resolver configuration has, until ctx is done.
func (n *Node) watchResolvConf(ctx context.Context) {
	domain := ""
	if len(n.cfg.Cluster.DNS) > 0 {
		domain = clusterDomain(n.cfg)
	}
	said := ""
	tick := time.NewTicker(resolvConfPeriod)
	defer tick.Stop()
	for {
		now := ""
		if path := n.cfg.Runtime.ResolvConf; path != "" {
			if err := criconfig.CheckResolvConf(path, domain); err != nil {
				now = err.Error()
			}
		}
		if now != said && now != "" {
			n.nodeEvent(v1.EventTypeWarning, "CheckLimitsForResolvConf", now)
		}
		said = now
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// shutdownChanged updates the condition of the node at once.
func (n *Node) shutdownChanged() {
	if n.member != nil {
		n.lookAtNode()
	}
}

// nodeEvent records an event about the node: in the log, for `get events`, and in the cluster.
func (n *Node) nodeEvent(eventType, reason, message string) {
	n.log.Info("node event", "node", n.node, "reason", reason, "message", message)
	n.events.Event(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: n.node}}, eventType, reason, message)
	if n.apiEvents != nil {
		n.apiEvents.NodeEvent(eventType, reason, message)
	}
}

// shutdownPods are the pods that a shutdown of the machine terminates. Only the goroutine that
// terminates them uses it.
type shutdownPods struct {
	node *Node
	// origins are where the pods of the last call of Active came from.
	origins map[types.UID]api.Origin
}

// Active implements shutdown.Pods.
func (s *shutdownPods) Active() []*v1.Pod {
	var active []*v1.Pod
	s.origins = map[types.UID]api.Origin{}
	add := func(p *v1.Pod, from api.Origin) {
		if _, known := s.origins[p.UID]; known || !s.node.workers.Has(p.UID) || s.node.workers.KnownTerminated(p.UID) {
			return
		}
		s.origins[p.UID] = from
		active = append(active, p)
	}
	for _, e := range s.node.workers.TerminatingPods() {
		add(e.Pod, e.Origin)
	}
	for _, d := range s.node.mux.Pods() {
		if !pod.IsMirror(d.Pod) {
			add(d.Pod, d.Origin)
		}
	}
	return active
}

// Terminate implements shutdown.Pods.
func (s *shutdownPods) Terminate(p *v1.Pod, grace time.Duration, finish func(*v1.PodStatus)) <-chan struct{} {
	stopped := make(chan struct{})
	s.node.workers.Submit(worker.Request{
		Kind: worker.Kill, Pod: p, Origin: s.origins[p.UID],
		Kill: &worker.KillOptions{NodeShutdown: true, Grace: new(int64(grace / time.Second)), Status: finish, Done: stopped},
	})
	return stopped
}

// Released implements shutdown.Pods.
func (s *shutdownPods) Released(uid types.UID) bool { return s.node.workers.Done(uid) }

// kernelLog is the log of the kernel.
const kernelLog = "/dev/kmsg"

// wireOOM makes the part that reports processes which the kernel kills.
func (n *Node) wireOOM(cgroups *node.Cgroups) {
	n.oom = oom.New(oom.Config{
		Path: kernelLog, Owner: cgroups.Owner, Pod: n.podOf, Container: n.containerOf, Events: n.recorder, NodeEvent: n.nodeEvent, Log: n.log,
	})
	n.meters.Metrics.OOMKills(func() []metrics.OOMKills {
		counts := n.oom.Counts()
		kills := make([]metrics.OOMKills, len(counts))
		for i, c := range counts {
			kills[i] = metrics.OOMKills{Namespace: c.Namespace, Pod: c.Pod, Container: c.Name, Kills: c.Kills}
		}
		return kills
	})
}

// podOf returns a pod that is wanted or terminating, nil for others.
func (n *Node) podOf(uid types.UID) *v1.Pod {
	for _, d := range n.mux.Pods() {
		if d.Pod.UID == uid {
			return d.Pod
		}
	}
	for _, e := range n.workers.TerminatingPods() {
		if e.Pod.UID == uid {
			return e.Pod
		}
	}
	return nil
}

// containerOf returns the name of a pod's container with an ID, empty if it is not known.
func (n *Node) containerOf(uid types.UID, id string) string {
	observed, _ := n.cache.Get(uid)
	for i := range observed.Containers {
		if c := &observed.Containers[i]; c.ID == id {
			return c.Name
		}
	}
	return ""
}

// wireStats makes the statistics of this node.
func (n *Node) wireStats(counters *kernel.Kernel) {
	n.stats = stats.New(stats.Config{
		Node: n.node, Runtime: n.runtime, Kernel: counters, Observed: n.inspectedPods, Pods: n.podSpecs, Layout: parts.Layout(n.cfg),
		CgroupRoot: n.cgroups.Root, PID: os.Getpid(), RuntimeSocket: strings.TrimPrefix(n.client.Endpoint(), "unix://"),
		CPUs: len(cpu.Online()), Logger: n.log, Now: time.Now,
	})
}

// podSpecs returns the wanted pods.
func (n *Node) podSpecs() []*v1.Pod {
	wanted := n.mux.Pods()
	pods := make([]*v1.Pod, len(wanted))
	for i := range wanted {
		pods[i] = wanted[i].Pod
	}
	return pods
}
