package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/cluster"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/source"
	"github.com/wardlet/wardlet/core/syncloop"
	"github.com/wardlet/wardlet/core/worker"
)

// wireMember makes the parts that keep the node in its cluster.
func (n *Node) wireMember() {
	if n.apiClient == nil {
		return
	}
	n.object.Update(func(is *v1.Node) {
		// The first names of these labels. Some software still looks for them.
		is.Labels[betaOS], is.Labels[betaArch] = is.Labels[v1.LabelOSStable], is.Labels[v1.LabelArchStable]
		is.Status.NodeInfo = node.System()
		is.Status.NodeInfo.KubeletVersion = KubeletVersion(n.version)
		is.Status.Addresses = cluster.Addresses(nil, n.node)
		if n.cfg.NodeAPI.Served() {
			is.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(n.cfg.NodeAPI.Port())
		}
	})
	switch _, err := n.findAddress(); {
	case err != nil && n.cfg.Cluster.NodeIP != "":
		n.log.Error("the node has no address for its cluster until an interface has the configured one", "err", err)
	case err != nil:
		n.log.Warn("the node has no address for its cluster yet", "err", err)
	}
	n.lookAtNode()
	n.member = cluster.New(cluster.Config{
		Client: n.apiClient, Node: n.object, Taints: n.cfg.Node.TaintList(), Pods: clusterPods{n}, Statics: staticPods{n}, Memory: n.state.NodeMemory(), Renewals: n.state.Renewals(), Stop: disconnectedPods{n}, Events: n.apiEvents,
		Logger: n.log, Now: time.Now,
	})
}

// joinCluster keeps the node in its cluster, once the node has a certificate for it.
func (n *Node) joinCluster(ctx context.Context) {
	if keeper := n.certificates.Client; keeper != nil {
		select {
		case <-keeper.Ready():
		case <-ctx.Done():
			return
		}
	}
	n.member.Run(ctx)
}

// KubeletVersion returns the version that a node of a release reports.
func KubeletVersion(release string) string { return kube.NodeVersion(api.NewVersion(release).Version) }

const (
	betaOS   = "beta.kubernetes.io/os"
	betaArch = "beta.kubernetes.io/arch"
)

// findAddress returns the node's address for its cluster: that of agent.toml, else what the node's name
// resolves to, else that of the default route. If no interface has the address of agent.toml, it returns
// an error, as a kubelet does: an interface may get the address later.
func (n *Node) findAddress() (net.IP, error) {
	if text := n.cfg.Cluster.NodeIP; text != "" {
		ip := net.ParseIP(text)
		if err := node.HeldIP(ip); err != nil {
			return nil, fmt.Errorf("cluster.node_ip: %w", err)
		}
		return ip, nil
	}
	if ip := n.named.find(n.node, time.Now(), node.NamedIP); ip != nil {
		return ip, nil
	}
	return node.DefaultIP()
}

// resolvePeriod is the interval at which the node's name is resolved, and resolveTimeout limits the time
// for it: without a network the agent must start soon.
const (
	resolvePeriod  = time.Minute
	resolveTimeout = time.Second
)

// namedAddress is the address that the node's name stands for. It is safe for concurrent use.
type namedAddress struct {
	mu   sync.Mutex
	ip   net.IP
	next time.Time
}

// find returns the address, nil for none. While the name cannot be resolved, the last one stays.
func (a *namedAddress) find(name string, now time.Time, resolve func(ctx context.Context, name string) (net.IP, error)) net.IP {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !now.Before(a.next) {
		a.next = now.Add(resolvePeriod)
		ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
		defer cancel()
		if ip, err := resolve(ctx, name); err == nil {
			a.ip = ip
		}
	}
	if a.ip == nil || node.HeldIP(a.ip) != nil {
		return nil
	}
	return a.ip
}

// clusterDomain returns the DNS domain of the cluster, empty outside a cluster.
func clusterDomain(cfg *config.Config) string {
	if cfg.Cluster.Kubeconfig == "" {
		return ""
	}
	return cfg.Cluster.Domain
}

// hostIPs returns the addresses for the statuses of pods; none outside a cluster, as with a
// kubelet.
func (n *Node) hostIPs() []string {
	for _, a := range n.object.Node().Status.Addresses {
		if a.Type == v1.NodeInternalIP {
			return []string{a.Address}
		}
	}
	return nil
}

// nodePeriod is the interval at which the node's state is read for its cluster. Until the node is
// ready, but for firstNodeTime at most, the interval is firstNodePeriod. runtimePeriod is the
// interval at which the runtime's version and images are read.
const (
	nodePeriod      = 10 * time.Second
	firstNodePeriod = 100 * time.Millisecond
	firstNodeTime   = 2 * time.Minute
	runtimePeriod   = time.Minute
)

// watchNode keeps the node object up to date: its conditions, and the runtime's version and images.
func (n *Node) watchNode(ctx context.Context) {
	var read time.Time
	began := time.Now()
	cidrs := podCIDRs{log: n.log}
	for {
		n.lookAtNode()
		cidrs.tell(ctx, n.object.Node(), n.client.SetPodCIDR)
		period := nodePeriod
		switch now := time.Now(); {
		case n.notReady() != "":
			if period = time.Second; now.Sub(began) < firstNodeTime {
				period = firstNodePeriod
			}
		case now.Sub(read) >= runtimePeriod:
			read = now
			n.readRuntime(ctx)
		}
		timer := time.NewTimer(period)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// podCIDRs are the networks of the node's pods that the runtime knows.
type podCIDRs struct {
	log   *slog.Logger
	told  string
	fault string
}

// tell tells the runtime the networks in the node object. If that fails, the next call tries again.
func (c *podCIDRs) tell(ctx context.Context, is *v1.Node, set func(ctx context.Context, cidrs string) error) {
	cidrs := strings.Join(is.Spec.PodCIDRs, ",")
	if cidrs == "" || cidrs == c.told {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, nodePeriod)
	defer cancel()
	err := set(ctx, cidrs)
	switch {
	case err == nil:
		c.told, c.fault = cidrs, ""
	case err.Error() != c.fault:
		c.fault = err.Error()
		c.log.Warn("the runtime was not told the pod CIDR, which its CNI configuration may need", "cidr", cidrs, "err", err)
	}
}

// readRuntime reads version and images. If the runtime fails to report one, its old value stays.
func (n *Node) readRuntime(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, nodePeriod)
	defer cancel()
	version, versionErr := n.client.Version(ctx)
	images, imagesErr := n.runtime.NodeImages(ctx)
	n.object.Update(func(is *v1.Node) {
		if versionErr == nil {
			is.Status.NodeInfo.ContainerRuntimeVersion = version.Name + "://" + version.Version
		}
		if imagesErr == nil {
			is.Status.Images = images
		}
	})
}

// runtimeFeatures writes the features of the runtime into the node object. Pods are admitted by
// them. It runs before the first pod starts.
func (n *Node) runtimeFeatures(f runtime.Features) {
	n.useDriver(node.Driver(f.CgroupDriver))
	n.object.Update(func(is *v1.Node) {
		is.Status.Features = &v1.NodeFeatures{SupplementalGroupsPolicy: &f.StrictGroups}
		is.Status.RuntimeHandlers = nil
		for _, h := range f.Handlers {
			is.Status.RuntimeHandlers = append(is.Status.RuntimeHandlers, v1.NodeRuntimeHandler{
				Name: h.Name, Features: &v1.NodeRuntimeHandlerFeatures{RecursiveReadOnlyMounts: &h.RecursiveReadOnly, UserNamespaces: &h.UserNamespaces},
			})
		}
	})
}

// lookAtNode updates conditions and addresses. It collects everything that may take time before it
// locks the node object, which other goroutines wait for.
func (n *Node) lookAtNode() {
	notReady, pressure, now := n.notReady(), n.pressureNow(), metav1.NewTime(time.Now().Truncate(time.Second))
	ip, err := n.findAddress()
	n.object.Update(func(is *v1.Node) {
		node.SetConditions(&is.Status, notReady, pressure, now)
		if err == nil { // else the one it had may come back
			is.Status.Addresses = cluster.Addresses(ip, n.node)
		}
	})
}

// notReady describes why pods cannot start; it is empty if they can.
func (n *Node) notReady() string {
	if err := errors.Join(n.health.Healthy(), n.health.NetworkReady(), n.shutdown.Healthy()); err != nil {
		return err.Error()
	}
	return ""
}

// statusChanged reports that the status of a pod may have changed.
func (n *Node) statusChanged(uid types.UID) {
	n.podChanges.Notify()
	n.finished(uid)
}

// finished reports that nothing of a pod is left, or that its status may have changed.
func (n *Node) finished(uid types.UID) {
	if n.member != nil {
		n.member.Changed(uid)
		n.member.MirrorsChanged() // it may be a static pod, with or without a mirror pod so far
	}
}

// registeredSource is a source that waits until the node is registered. From then on the labels and
// taints that the cluster has set on the node are known, and the source's pods are judged by them.
type registeredSource struct {
	source.Source
	sink       source.Sink
	registered <-chan struct{}
}

// Run implements source.Source.
func (s registeredSource) Run(ctx context.Context) error {
	select {
	case <-s.registered:
	default:
		s.sink.Health(errNotRegistered)
		select {
		case <-s.registered:
		case <-ctx.Done():
			return nil
		}
	}
	return s.Source.Run(ctx)
}

var errNotRegistered = errors.New("the node is not registered at the API server yet; the log says why")

// inCluster passes on events about pods that the API server has, also as mirror pods.
type inCluster struct{ *Node }

func (c inCluster) has(p *v1.Pod) bool { return isOfCluster(p) || c.member.Mirrored(p.UID) }

// Event implements status.Recorder.
func (c inCluster) Event(p *v1.Pod, eventType, reason, message string) {
	if c.has(p) {
		c.apiEvents.Event(p, eventType, reason, message)
	}
}

// AnnotatedEvent implements status.AnnotatedRecorder.
func (c inCluster) AnnotatedEvent(p *v1.Pod, annotations map[string]string, eventType, reason, message string) {
	if c.has(p) {
		c.apiEvents.AnnotatedEvent(p, annotations, eventType, reason, message)
	}
}

// ContainerEvent implements status.ContainerRecorder.
func (c inCluster) ContainerEvent(p *v1.Pod, container, eventType, reason, message string) {
	if c.has(p) {
		c.apiEvents.ContainerEvent(p, container, eventType, reason, message)
	}
}

// clusterPods are the pods of this node that the API server has.
type clusterPods struct{ *Node }

// All implements cluster.Pods.
func (c clusterPods) All() []*v1.Pod {
	var pods []*v1.Pod
	for _, d := range c.mux.Pods() {
		if isOfCluster(d.Pod) {
			pods = append(pods, d.Pod)
		}
	}
	return pods
}

// Get implements cluster.Pods.
func (c clusterPods) Get(uid types.UID) *v1.Pod {
	if p := c.mux.PodOf(uid); p != nil && isOfCluster(p) {
		return p
	}
	return nil
}

func isOfCluster(p *v1.Pod) bool { return !pod.IsStatic(p) && !pod.IsMirror(p) }

// Status implements cluster.Pods.
func (c clusterPods) Status(p *v1.Pod) (v1.PodStatus, bool) {
	st, ok := c.statuses.Get(p.UID)
	if !ok {
		return v1.PodStatus{}, false
	}
	return c.shown(p, st), true
}

// Adopt implements cluster.Pods.
func (c clusterPods) Adopt(uid types.UID, there *v1.PodStatus) { c.statuses.Adopt(uid, there) }

// MayRun implements cluster.Pods.
func (c clusterPods) MayRun(uid types.UID) bool { return c.workers.MayRunContainers(uid) }

// Started implements cluster.Pods.
func (c clusterPods) Started(uid types.UID) bool {
	return c.workers.Has(uid) && c.workers.MayRunContainers(uid)
}

// Begun implements cluster.Pods.
func (c clusterPods) Begun(uid types.UID) bool { return c.workers.Has(uid) || c.workers.InRuntime(uid) }

// Finished implements cluster.Pods.
func (c clusterPods) Finished(uid types.UID) bool { return c.workers.Done(uid) }

// disconnectedPods are stopped because the node is disconnected from its cluster.
type disconnectedPods struct{ *Node }

// Disconnected implements cluster.Stopper.
func (d disconnectedPods) Disconnected(p *v1.Pod, message string) {
	d.recorder.Event(p, v1.EventTypeWarning, cluster.ReasonDisconnected, message)
	finish := syncloop.DisruptedStatus(cluster.ReasonDisconnected, message, message)
	d.workers.Submit(worker.Request{Kind: worker.Kill, Pod: p, Origin: d.origins()[p.UID], Kill: &worker.KillOptions{Evict: true, Status: finish}})
}

// mayStart returns an error while a pod of the API server must not start.
func (n *Node) mayStart(p *v1.Pod) error {
	if n.member == nil {
		return nil
	}
	return n.member.MayStart(p)
}

// Event implements cluster.Stopper.
func (d disconnectedPods) Event(p *v1.Pod, kind, reason, message string) {
	d.recorder.Event(p, kind, reason, message)
}

// staticPods are the pods of the node's own sources, which mirror pods show in the cluster.
type staticPods struct{ *Node }

// All implements cluster.Statics. A pod that has no status yet, because policy holds it or because it
// was not admitted yet, has nothing to show.
func (s staticPods) All() (pods []*v1.Pod, complete bool) {
	complete = true
	for i := range s.cfg.Sources {
		complete = complete && s.mux.Seen(s.cfg.Sources[i].Name)
	}
	for _, d := range s.mux.Pods() {
		if _, known := s.statuses.Get(d.Pod.UID); known && pod.IsStatic(d.Pod) {
			pods = append(pods, d.Pod)
		}
	}
	return pods, complete
}

// Wanted implements cluster.Statics.
func (s staticPods) Wanted(name types.NamespacedName) bool {
	return slices.ContainsFunc(s.mux.Pods(), func(d mux.Desired) bool {
		return d.Admitted && d.HandedOn && d.Pod.Name == name.Name && d.Pod.Namespace == name.Namespace && pod.IsStatic(d.Pod)
	})
}

// Mirrors implements cluster.Statics.
func (s staticPods) Mirrors() []*v1.Pod {
	var mirrors []*v1.Pod
	for _, d := range s.mux.Pods() {
		if pod.IsMirror(d.Pod) && !pod.IsStatic(d.Pod) {
			mirrors = append(mirrors, d.Pod)
		}
	}
	return mirrors
}

// Ends implements cluster.Statics.
func (s staticPods) Ends(uid types.UID) bool { return s.workers.Has(uid) && !s.workers.Done(uid) }

// Event implements cluster.Statics.
func (s staticPods) Event(p *v1.Pod, kind, reason, message string) {
	s.recorder.Event(p, kind, reason, message)
}

// mirrorsChanged reports that a mirror pod has come, changed or gone.
func (n *Node) mirrorsChanged() {
	if n.member != nil {
		n.member.MirrorsChanged()
	}
}

// clusterPeriod is the interval at which the node looks by which certificate authorities it knows its
// cluster.
const clusterPeriod = time.Minute

// leaveFormerCluster removes what another cluster has sent, of which this was a node before. The
// certificate authorities of the API server tell clusters apart, also while it is away: if none is
// known, the cluster is another one. They may be replaced one after the other, while the agent runs.
func (n *Node) leaveFormerCluster() error {
	known, now := n.authorities()
	if len(known) > 0 && len(now) > 0 && !share(known, now) {
		n.log.Warn("the node is in another cluster now: the pods and objects of the former are not restored")
		if err := n.state.LeaveCluster(config.NameAPI); err != nil {
			return fmt.Errorf("what a former cluster of this node has sent cannot be removed: %w", err)
		}
		known = nil
	}
	n.knowCluster(known, now)
	return nil
}

// followAuthorities stores the certificate authorities when they change, until ctx is done.
func (n *Node) followAuthorities(ctx context.Context) {
	tick := time.NewTicker(clusterPeriod)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			n.knowCluster(n.authorities())
		case <-ctx.Done():
			return
		}
	}
}

// knowCluster stores the authorities of now, unless they are those of another cluster than known.
func (n *Node) knowCluster(known, now []string) {
	if len(now) == 0 || slices.Equal(known, now) || len(known) > 0 && !share(known, now) {
		return
	}
	if err := n.state.StoreAuthorities(now); err != nil {
		n.log.Warn("the certificate authorities of the cluster are not stored; after a restart, the node may not know its pods", "err", err)
	}
}

// authorities returns the certificate authorities by which the node knows its cluster, and those of
// now. Both are empty if they cannot be read.
func (n *Node) authorities() (known, now []string) {
	known, err := n.state.Authorities()
	if err == nil {
		now, err = n.apiClient.Authorities()
	}
	if err != nil {
		n.log.Debug("the node cannot tell whether its cluster is still the same", "err", err)
		return nil, nil
	}
	return known, now
}

func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}
