package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/logs/rotate"
	"github.com/wardlet/wardlet/core/nodeapi"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/runtime"
	"github.com/wardlet/wardlet/core/server"
	"github.com/wardlet/wardlet/core/status"
)

// nodeAPI returns the server of the node's API, nil for an agent that serves none.
func (n *Node) nodeAPI() (*nodeapi.Server, error) {
	c := &n.cfg.NodeAPI
	if !c.Served() && c.ReadOnlyListen == "" && c.HealthzListen == "" {
		return nil, nil
	}
	cfg := nodeapi.Config{
		ReadOnlyListen: c.ReadOnlyListen, HealthzListen: c.HealthzListen, Node: n.node,
		Pods: n, Containers: streamed{n}, Connections: n.connections(), Metrics: n.meters.Metrics.Handler(), Probes: n.probes, Stats: n.stats, Configz: n.configz, Health: n.health.Healthy, Logger: n.log, Now: time.Now,
	}
	if c.Served() {
		cfg.Listen, cfg.ClientCAFile = c.Listen, c.ClientCAFile
		cfg.CertFile, cfg.KeyFile = parts.ServingFiles(n.cfg)
		if keeper := n.certificates.Serving; keeper != nil {
			cfg.Certified = keeper.Ready()
		}
	}
	cfg.Running, cfg.Checkpoint, cfg.CheckpointDir = n.runningPods, n.runtime.Checkpoint, filepath.Join(n.cfg.Paths.PodRoot, "checkpoints")
	if c.SystemLogs {
		cfg.NodeLogs = &nodeapi.NodeLogs{Dir: "/var/log", Journal: "journalctl"}
	}
	if c.Served() && n.apiClient != nil {
		// This API uses a client of its own: any caller that reaches the port causes requests, which must
		// not delay the renewal of the node's lease.
		client, err := parts.APIClient(n.cfg, n.log)
		if err != nil {
			return nil, err
		}
		n.reviewClient, cfg.Client = client, client
	}
	return nodeapi.New(cfg), nil
}

// streams serves logs of containers and programs in containers to users of the local socket.
func (n *Node) streams() *nodeapi.Streams {
	return &nodeapi.Streams{
		Pods: n, Containers: streamed{n}, Connections: n.connections(), Source: nodeapi.FromSocket, User: server.UserOf, Logger: n.log, Now: time.Now,
	}
}

// streamed implements nodeapi.Containers with the containers of this node.
type streamed struct{ node *Node }

// LogPath implements nodeapi.Containers.
func (s streamed) LogPath(ctx context.Context, id string) (string, error) {
	return s.node.runtime.LogPath(ctx, id)
}

// Runs implements nodeapi.Containers.
func (s streamed) Runs(p *v1.Pod, id string) bool {
	seen, err := s.node.cache.Get(p.UID)
	if err != nil {
		return true
	}
	for i := range seen.Containers {
		if seen.Containers[i].ID == id {
			return seen.Containers[i].State == status.StateRunning
		}
	}
	return false
}

// ExecURL implements nodeapi.Containers.
func (s streamed) ExecURL(ctx context.Context, id string, what *nodeapi.Exec) (*url.URL, error) {
	return s.node.runtime.ExecURL(ctx, id, runtime.ExecStreams(*what))
}

// AttachURL implements nodeapi.Containers.
func (s streamed) AttachURL(ctx context.Context, id string, what *nodeapi.Exec) (*url.URL, error) {
	return s.node.runtime.AttachURL(ctx, id, runtime.ExecStreams(*what))
}

// PortForwardURL implements nodeapi.Containers.
func (s streamed) PortForwardURL(ctx context.Context, p *v1.Pod, ports []int32) (*url.URL, error) {
	seen, err := s.node.cache.Get(p.UID)
	for i := range seen.Sandboxes {
		if seen.Sandboxes[i].Ready {
			return s.node.runtime.PortForwardURL(ctx, seen.Sandboxes[i].ID, ports)
		}
	}
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("pod %q has no sandbox that is ready; try again when it runs", p.Name)
}

// logRotator returns the rotator for the logs of containers.
func (n *Node) logRotator() *rotate.Rotator {
	return rotate.New(rotate.Config{
		Pods: n.inspectedPods, Reopen: n.runtime.ReopenLog, Events: n.recorder,
		MaxSize: n.cfg.Runtime.MaxLogSize(), MaxFiles: n.cfg.Runtime.ContainerLogMaxFiles, Log: n.log, Now: time.Now,
	})
}

// inspectedPods returns the pods of this installation as they were last inspected.
func (n *Node) inspectedPods() []status.ObservedPod {
	known := n.knownPods()
	pods := make([]status.ObservedPod, 0, len(known))
	for _, listed := range known {
		// After a failed inspection, the cache returns the previous result.
		p, _ := n.cache.Get(listed.UID)
		pods = append(pods, p)
	}
	return pods
}

// configz returns the configuration in force in the form of a kubelet's. A kubelet has one source
// of each kind, so configz returns the first source of a kind.
func (n *Node) configz() *nodeapi.KubeletConfiguration {
	c := n.cfg
	inCluster := n.apiClient != nil
	k := &nodeapi.KubeletConfiguration{
		TypeMeta:                 metav1.TypeMeta{Kind: "KubeletConfiguration", APIVersion: "kubelet.config.k8s.io/v1beta1"},
		SyncFrequency:            metav1.Duration{Duration: n.workers.SyncFrequency()},
		RegisterNode:             &inCluster,
		ContainerRuntimeEndpoint: c.Runtime.Endpoint,
		RuntimeRequestTimeout:    metav1.Duration{Duration: n.client.Timeout()},
		CgroupDriver:             string(n.cgroups.Driver()),
		CgroupRoot:               strings.TrimSuffix(c.Paths.CgroupRoot, "/kubepods"), // a kubelet adds the name itself
		RegisterWithTaints:       c.Node.TaintList(),
		SerializeImagePulls:      new(c.Runtime.ParallelPulls == 1),
		MaxPods:                  int32(c.Node.MaxPods),
		ResolverConfig:           &c.Runtime.ResolvConf,
		AllowedUnsafeSysctls:     c.Runtime.AllowedUnsafeSysctls,
		SeccompDefault:           &c.Runtime.SeccompDefault,
		PodLogsDir:               filepath.Join(c.Paths.LogRoot, "pods"),
		SystemReserved:           config.ReservedMap(c.Node.SystemReserved),
		KubeReserved:             config.ReservedMap(c.Node.KubeReserved),
		PodPidsLimit:             &c.Node.PodPIDsLimit,
		MemorySwap:               nodeapi.KubeletMemorySwap{SwapBehavior: c.Node.SwapBehavior},
		SingleProcessOOMKill:     &c.Node.SingleProcessOOMKill,
		CgroupsPerQOS:            new(true),

		ShutdownGracePeriod:             metav1.Duration{Duration: c.Node.ShutdownGracePeriod},
		ShutdownGracePeriodCriticalPods: metav1.Duration{Duration: c.Node.ShutdownGracePeriodCriticalPods},
	}
	k.CgroupRoot = cmp.Or(k.CgroupRoot, "/")
	if c.Runtime.ParallelPulls > 1 {
		k.MaxParallelImagePulls = new(int32(c.Runtime.ParallelPulls))
	}
	k.ImageMinimumGCAge.Duration, k.ImageMaximumGCAge.Duration = c.Runtime.ImageMinimumGCAge, c.Runtime.ImageMaximumGCAge
	k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent = new(int32(c.Runtime.ImageGCHighThresholdPercent)), new(int32(c.Runtime.ImageGCLowThresholdPercent))
	k.ContainerLogMaxSize, k.ContainerLogMaxFiles = c.Runtime.ContainerLogMaxSize, new(int32(c.Runtime.ContainerLogMaxFiles))
	if n.cgroups.V2() {
		k.MemoryReservationPolicy = c.Node.MemoryReservationPolicy
		if c.Node.MemoryThrottlingFactor > 0 {
			k.MemoryThrottlingFactor = &c.Node.MemoryThrottlingFactor
		}
	}
	if len(c.Node.ShutdownByPriority) > 0 {
		for _, p := range c.Node.ShutdownPeriods() {
			k.ShutdownGracePeriodByPodPriority = append(k.ShutdownGracePeriodByPodPriority,
				nodeapi.KubeletShutdownPeriod{Priority: p.Priority, ShutdownGracePeriodSeconds: int64(p.Period / time.Second)})
		}
	}
	setEviction(k, &c.Eviction)
	for i := range c.Sources {
		switch s := &c.Sources[i]; {
		case s.Kind == config.KindFile && k.StaticPodPath == "":
			k.StaticPodPath, k.FileCheckFrequency.Duration = s.Path, s.Period
		case s.Kind == config.KindHTTP && k.StaticPodURL == "":
			k.StaticPodURL, k.HTTPCheckFrequency.Duration = withoutQuery(s.URL), s.Period
		}
	}
	if inCluster {
		k.ClusterDNS, k.ClusterDomain = c.Cluster.DNS, c.Cluster.Domain
	}
	k.EnableSystemLogQuery = c.NodeAPI.SystemLogs
	k.SetLogin(c.NodeAPI.ClientCAFile, inCluster)
	k.TLSCertFile, k.TLSPrivateKeyFile = c.NodeAPI.CertFile, c.NodeAPI.KeyFile
	k.RotateCertificates, k.ServerTLSBootstrap = c.Cluster.Renews(), c.NodeAPI.ServerTLSBootstrap
	k.Address, k.Port = hostPort(c.NodeAPI.Listen)
	_, k.ReadOnlyPort = hostPort(c.NodeAPI.ReadOnlyListen)
	var healthz int32 // if there is no port, a kubelet reports 0
	k.HealthzBindAddress, healthz = hostPort(c.NodeAPI.HealthzListen)
	k.HealthzPort = &healthz
	return k
}

// setEviction sets the thresholds of eviction.
func setEviction(k *nodeapi.KubeletConfiguration, e *config.Eviction) {
	k.EvictionHard, k.EvictionSoft, k.EvictionMinimumReclaim = e.Hard, e.Soft, e.MinimumReclaim
	for signal, grace := range e.SoftGracePeriod {
		if k.EvictionSoftGracePeriod == nil {
			k.EvictionSoftGracePeriod = map[string]string{}
		}
		k.EvictionSoftGracePeriod[signal] = grace.String()
	}
	k.EvictionPressureTransitionPeriod.Duration = e.PressureTransitionPeriod
	k.EvictionMaxPodGracePeriod = int32(min(e.MaxPodGracePeriod/time.Second, math.MaxInt32))
}

// hostPort splits an address. As in a kubelet, an address without a host has the host 0.0.0.0.
func hostPort(address string) (host string, port int32) {
	if address == "" {
		return "", 0
	}
	host, text, _ := net.SplitHostPort(address)
	number, _ := strconv.ParseUint(text, 10, 16) // it is checked
	if host == "" {
		host = "0.0.0.0"
	}
	return host, int32(number)
}

// withoutQuery removes the parts of a URL that may contain a secret.
func withoutQuery(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	u.RawQuery = ""
	return u.String()
}

var errNotFollowed = errors.New("this agent was started without a configuration file to read again")

// ReloadConfig reads the configuration again at once, as after a change of its file. If the file is
// refused, nothing changes and the error lists every fault. If ctx ends first, the error is that of
// ctx. ReloadConfig waits until Run has started.
func (n *Node) ReloadConfig(ctx context.Context) (reload.Outcome, error) {
	if n.reload == nil {
		return reload.Outcome{}, errNotFollowed
	}
	return n.reload.Ask(ctx)
}

// wireReload makes the part that follows the configuration, if the configuration is from a file.
func (n *Node) wireReload(with *reload.Reload) {
	if with == nil {
		return
	}
	n.reload = reload.New(n.cfg, with.Path, reload.Parts{
		Apply: n.live(with.Level).Appliers(), Load: with.Load, Asked: with.Asked, Events: n.events, Node: n.node, Log: n.log, Notify: n.notify,
	})
}

// live returns the functions that apply reloaded values to the agent's own parts.
func (n *Node) live(level *slog.LevelVar) *reload.Live {
	return &reload.Live{
		Level: level, RequestTimeout: n.client.SetTimeout, SyncFrequency: n.workers.SetSyncFrequency, StopDenied: n.mux.SetStopDenied,
		Terms: func(t policy.Terms) {
			if n.policies != nil {
				n.policies.SetTerms(t)
			}
		},
	}
}
