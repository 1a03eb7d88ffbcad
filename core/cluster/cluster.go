package cluster

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/kube"
)

// Node is the node object of the agent; see package node.
type Node interface {
	// Get returns the node, which is shared, and its generation.
	Get() (*v1.Node, uint64)
	// Update calls edit with a copy of the node, and reports whether edit changed it.
	Update(edit func(*v1.Node)) bool
	// Changed returns a channel that is closed with the next change.
	Changed() <-chan struct{}
}

// Pods are the pods of this node that an API server may know of. The methods do not block.
type Pods interface {
	// All returns the pods of the API server, in no order.
	All() []*v1.Pod
	// Get returns the newest version of a pod from its source. It is nil for a pod that is unknown or
	// not the API server's.
	Get(uid types.UID) *v1.Pod
	// Status returns the status of a pod for the API server, false if there is none.
	Status(p *v1.Pod) (v1.PodStatus, bool)
	// Adopt copies the start time and the times of conditions of a pod from the status that the server
	// has, which an earlier agent may have written.
	Adopt(uid types.UID, there *v1.PodStatus)
	// MayRun reports whether a container of the pod may run.
	MayRun(uid types.UID) bool
	// Started reports whether the agent starts the pod, or has started it, and it has not ended.
	Started(uid types.UID) bool
	// Begun reports whether the node has started work on the pod. It is false for a pod that policy
	// holds.
	Begun(uid types.UID) bool
	// Finished reports whether nothing of the pod is left to stop, unmount or remove.
	Finished(uid types.UID) bool
}

// Memory stores the labels, annotations and taints that others set on the node at the API server.
// After a restart, pods are judged by them even if the server is unreachable.
type Memory interface {
	// Load returns the stored node, nil for none.
	Load() (*v1.Node, error)
	Store(n *v1.Node) error
}

// NodeEvents records events about the node without blocking; see Events.
type NodeEvents interface {
	// NodeEvent records that something happened to the node. kind is v1.EventTypeNormal or v1.EventTypeWarning.
	NodeEvent(kind, reason, message string)
}

// Config is the configuration of a Member.
type Config struct {
	Client *kube.Client
	// Node is the node object, with the name and status to register.
	Node Node
	// Taints are the taints of the node at its registration.
	Taints []v1.Taint
	Pods   Pods
	// Statics are the static pods that mirror pods show in the cluster, nil for none.
	Statics Statics
	Memory  Memory
	// Renewals and Stop are for pods that are stopped while the node is disconnected; nil for none.
	Renewals Renewals
	Stop     Stopper
	Events   NodeEvents
	Logger   *slog.Logger
	Now      func() time.Time
}

// Member keeps the node in its cluster.
type Member struct {
	cfg  Config
	name string
	log  *slog.Logger

	// labels and annotations are the node's own. The API server accepts no others at the registration.
	labels, annotations map[string]string

	// remote is the API server's copy of the node, nil before the node is registered.
	mu     sync.Mutex
	remote *v1.Node
	// stored is the node as Memory has it.
	stored *v1.Node
	// renewed is when this process last renewed the lease, zero for never.
	renewed    time.Time
	connection connection
	// report has a value when the API server's copy of the node's status differs from the node's.
	report chan struct{}

	// registered is closed when the node is registered for the first time.
	registered chan struct{}
	register   sync.Once

	// mirrors are the mirror pods by name. Only mirrorPods uses them. mirrored are the static pods with
	// a mirror pod, by the UID of the static pod; mu guards it.
	mirrors        map[types.NamespacedName]*mirror
	mirrored       map[types.UID]report
	mirrorsChanged chan struct{}

	owed owed
	// met has the pods whose copy at the API server was read, with the time of the last read. paused
	// has the pods whose status waits for initPause. Only reportPods uses both.
	met    map[types.UID]time.Time
	paused map[types.UID]bool
}

// New returns a member that does nothing before Run. It sets the node's labels, annotations and
// taints from Memory.
func New(cfg Config) *Member {
	n, _ := cfg.Node.Get()
	m := &Member{
		cfg: cfg, name: n.Name, log: cfg.Logger, registered: make(chan struct{}),
		labels: maps.Clone(n.Labels), annotations: maps.Clone(n.Annotations), report: make(chan struct{}, 1), mirrorsChanged: make(chan struct{}, 1),
		met: map[types.UID]time.Time{}, paused: map[types.UID]bool{},
		owed: owed{uids: map[types.UID]bool{}, wake: make(chan struct{}, 1)},
	}
	m.recall()
	m.recallRenewal()
	return m
}

// Changed reports that the status of a pod, or its remains on the node, may have changed. It does
// not block.
func (m *Member) Changed(uid types.UID) { m.owed.add(uid) }

// Run works until ctx is done. It runs once.
func (m *Member) Run(ctx context.Context) {
	m.cfg.Events.NodeEvent(v1.EventTypeNormal, "Starting", "Starting wardlet.")
	var all sync.WaitGroup
	defer all.Wait()
	for _, run := range []func(context.Context){m.followNode, m.reportNode, m.renewLease, m.reportPods, m.mirrorPods, m.endDisconnected} {
		all.Go(func() { run(ctx) })
	}
}

// Registered returns a channel that is closed when the node is registered for the first time.
func (m *Member) Registered() <-chan struct{} { return m.registered }

// requestTimeout limits the time of one request.
const requestTimeout = 10 * time.Second

// spread returns d, changed at random by at most a share of it.
func spread(d time.Duration, share float64) time.Duration {
	return time.Duration(float64(d) * (1 + share*(2*rand.Float64()-1)))
}

// sleep waits for d, spread by share. It returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration, share float64) bool {
	timer := time.NewTimer(spread(d, share))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// trouble logs the start of a failure, each new reason and the end, instead of each attempt.
type trouble struct {
	log  *slog.Logger
	what string
	// told has the reasons that are logged, nil while there is no failure.
	told map[string]bool
}

// note records the result of an attempt.
func (t *trouble) note(err error) {
	if err == nil {
		if t.told != nil {
			t.told = nil
			t.log.Info("the API server accepts the node's updates again", "what", t.what)
		}
		return
	}
	reason := err.Error()
	if e, ok := errors.AsType[*podError](err); ok {
		reason = e.reason()
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Source != nil {
		reason = strings.ReplaceAll(reason, e.Source.String(), "") // its port differs with every connection
	}
	if t.told[reason] {
		return
	}
	if t.told == nil {
		t.told = map[string]bool{}
	}
	t.told[reason] = true
	t.log.Warn("the API server refused the node's update; trying again", "what", t.what, "err", err)
}

// Addresses returns the addresses of a node object: its IP address, if it has one, and its name.
func Addresses(ip net.IP, name string) []v1.NodeAddress {
	var all []v1.NodeAddress
	if ip != nil {
		all = append(all, v1.NodeAddress{Type: v1.NodeInternalIP, Address: ip.String()})
	}
	return append(all, v1.NodeAddress{Type: v1.NodeHostName, Address: name})
}
