package eviction

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

const (
	// period is the time between two passes, as in a kubelet.
	period = 10 * time.Second
	// cleanupTimeout is for how long the next pass waits until nothing of an evicted pod is left, and
	// cleanupPeriod is how often that is checked, as in a kubelet.
	cleanupTimeout = 30 * time.Second
	cleanupPeriod  = time.Second
)

// Observation is what a signal measures: how much is available, and how much there is at all.
type Observation struct{ Available, Capacity int64 }

// Observations are the signals that could be read.
type Observations map[threshold.Signal]Observation

// Node reads the state of the node and of its pods; see Machine. Its methods return within some
// seconds, or half a minute for disk usage.
type Node interface {
	Observe(ctx context.Context) Observations
	// DedicatedImageFS reports whether images are on another file system than the pods' directories.
	DedicatedImageFS() bool
	// Usage returns how much of a resource each pod uses, for a threshold of that signal.
	Usage(ctx context.Context, pods []*v1.Pod, of threshold.Signal) map[types.UID]Usage
}

// Pods are the pods of the node.
type Pods interface {
	// Active returns the pods of which something may run, including those that are terminating.
	Active() []*v1.Pod
	// Evict requests the termination of an active pod with a grace period in seconds; 0 stands for the
	// shortest one. The final status has the phase Failed, the reason Evicted and the message. The
	// event about it has the annotations, of which there may be none. Evict does not wait for the
	// termination.
	Evict(p *v1.Pod, grace int64, message string, annotations map[string]string)
	// CleanedUp reports whether nothing of an evicted pod is left on the node.
	CleanedUp(uid types.UID) bool
}

// Reclaimer frees resources of the node that no pod needs.
type Reclaimer interface {
	// RemoveDeadContainers removes the containers of pods that have ended. It returns when they are
	// removed, or the first error.
	RemoveDeadContainers(ctx context.Context) error
	// RemoveUnusedImages removes all images that nothing needs, and returns the first error.
	RemoveUnusedImages(ctx context.Context) error
}

// Config holds the settings and dependencies of a Manager. Reclaim, Tenant, Changed and Evicted are
// optional.
type Config struct {
	// Thresholds are in the order of threshold.Parse.
	Thresholds []threshold.Threshold
	// Transition is for how long a condition stays after the last time that its thresholds were met;
	// positive.
	Transition time.Duration
	// MaxPodGrace is the longest grace period, in seconds, for an eviction by a soft threshold.
	MaxPodGrace int64
	Node        Node
	Pods        Pods
	Reclaim     Reclaimer
	// Critical reports whether a pod is never evicted.
	Critical func(p *v1.Pod) bool
	// Tenant returns the tenant of a namespace, empty for none. If it is set, pods of tenants that use
	// more than their pods request are evicted before all others.
	Tenant func(namespace string) string
	// NodeEvent records a warning about the node.
	NodeEvent func(reason, message string)
	// Changed is called after Conditions has changed. It must not block.
	Changed func()
	// Evicted is called for each eviction.
	Evicted func(signal threshold.Signal)
	Log     *slog.Logger
	// Now is the wall clock; its times carry a monotonic reading.
	Now func() time.Time
}

// Manager evicts pods. Run works until its context ends.
type Manager struct {
	cfg Config
	// state and evicted belong to Run's goroutine. evicted has the pods that were evicted and may not
	// have terminated yet.
	state   state
	evicted map[types.UID]bool
	// said is the last logged reason why nothing was evicted; empty for none.
	said string

	mu         sync.Mutex
	conditions []Condition
}

// New makes a Manager.
func New(cfg Config) *Manager {
	return &Manager{cfg: cfg, evicted: map[types.UID]bool{}}
}

// Condition is a resource that is running out.
type Condition struct {
	// Type is MemoryPressure, DiskPressure or PIDPressure.
	Type v1.NodeConditionType
	// Message names the threshold that was met last.
	Message string
}

// Conditions returns the conditions of the node that are true now, ordered by Type. The result must
// not be modified.
func (m *Manager) Conditions() []Condition {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conditions
}

// Run makes a pass at once and then every 10 s, until ctx ends. After an eviction the next pass
// follows when nothing of the pod is left, after 30 s at the latest.
func (m *Manager) Run(ctx context.Context) {
	for ctx.Err() == nil {
		evicted := m.pass(ctx)
		if evicted == "" {
			pause(ctx, period)
			continue
		}
		for waited := time.Duration(0); waited < cleanupTimeout && pause(ctx, cleanupPeriod); waited += cleanupPeriod {
			if m.cfg.Pods.CleanedUp(evicted) {
				delete(m.evicted, evicted)
				break
			}
		}
	}
}

// pause waits. It reports whether ctx is not done.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// setConditions stores the conditions.
func (m *Manager) setConditions(now []Condition) {
	m.mu.Lock()
	same := slices.Equal(m.conditions, now)
	m.conditions = now
	m.mu.Unlock()
	if same {
		return
	}
	for _, c := range now {
		m.cfg.Log.Warn("the node is under pressure", "condition", string(c.Type), "why", c.Message)
	}
	if len(now) == 0 {
		m.cfg.Log.Info("the node is no longer under pressure")
	}
	if m.cfg.Changed != nil {
		m.cfg.Changed()
	}
}
