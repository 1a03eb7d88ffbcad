package probe

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/handler"
	"github.com/wardlet/wardlet/core/internal/turns"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// Kind is the kind of a probe.
type Kind string

// The kinds of probes, as events name them.
const (
	Startup   Kind = "Startup"
	Liveness  Kind = "Liveness"
	Readiness Kind = "Readiness"
)

// Runner runs a probe once; see handler.Runner.
type Runner interface {
	Probe(ctx context.Context, to handler.Target, probe *v1.Probe) (handler.Outcome, error)
}

// Config holds the settings and dependencies of a Manager. All fields but Save are required.
type Config struct {
	Runner Runner
	// Statuses has the newest status of each pod; probe results are written into it.
	Statuses *status.Store
	// Save, if not nil, stores the probe results across restarts of the agent; st is the status of
	// the pod.
	Save   func(p *v1.Pod, st *v1.PodStatus)
	Events status.Recorder
	// Owner returns the tenant of a pod, "" for none. A pod without a tenant shares its limit with
	// no other pod.
	Owner func(p *v1.Pod) string
	// Spread returns a random time from 0 to d, so that not all probes of a node begin at once
	// after its start.
	Spread func(d time.Duration) time.Duration
	Now    func() time.Time
	Log    *slog.Logger
}

const (
	// atOnce is how many probes of one owner run at a time.
	atOnce = 64
	// longest is how long a probe counts towards atOnce. After that it continues, but others no
	// longer wait for it.
	longest = 2 * time.Second
)

// Manager runs the probes of all pods. It is safe for concurrent use.
type Manager struct {
	cfg     Config
	started time.Time
	ctx     context.Context
	cancel  context.CancelFunc
	loops   sync.WaitGroup
	results results
	due     due
	turns   *turns.Turns

	mu   sync.Mutex
	pods map[types.UID]*podProbes
}

// podProbes are the probes of one pod.
type podProbes struct {
	// pod is the newest version of the pod.
	pod   *v1.Pod
	loops map[key]*loop
}

type key struct {
	container string
	kind      Kind
}

// New returns a manager without pods.
func New(cfg Config) *Manager {
	ctx, cancel := context.WithCancel(context.Background())
	return &Manager{
		cfg: cfg, started: cfg.Now(), ctx: ctx, cancel: cancel, pods: map[types.UID]*podProbes{},
		results: results{of: map[string]containerResults{}}, due: due{uids: map[types.UID]bool{}, wake: make(chan struct{}, 1)},
		turns: turns.New(atOnce),
	}
}

// Run waits until ctx is done, then stops all probes and waits for them.
func (m *Manager) Run(ctx context.Context) {
	<-ctx.Done()
	m.mu.Lock()
	m.cancel()
	m.mu.Unlock()
	m.loops.Wait()
}

// Add begins the probes of a pod that do not run yet, and stores p as the pod's newest version.
func (m *Manager) Add(p *v1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return
	}
	own := m.pods[p.UID]
	for c, kind := range pod.Containers(p) {
		if kind != pod.RegularContainer && kind != pod.Sidecar {
			continue
		}
		for _, probe := range []struct {
			kind Kind
			spec *v1.Probe
		}{{Startup, c.StartupProbe}, {Liveness, c.LivenessProbe}, {Readiness, c.ReadinessProbe}} {
			if probe.spec == nil {
				continue
			}
			if own == nil {
				own = &podProbes{loops: map[key]*loop{}}
				m.pods[p.UID] = own
			}
			if k := (key{c.Name, probe.kind}); own.loops[k] == nil {
				own.loops[k] = m.begin(p.UID, k)
			}
		}
	}
	if own != nil {
		own.pod = p
	}
}

// begin starts the goroutine of a probe. The caller holds m.mu.
func (m *Manager) begin(uid types.UID, k key) *loop {
	ctx, cancel := context.WithCancel(m.ctx)
	l := &loop{manager: m, uid: uid, key: k, cancel: cancel, nudged: make(chan struct{}, 1)}
	m.loops.Go(func() {
		defer cancel()
		l.run(ctx)
		m.mu.Lock()
		defer m.mu.Unlock()
		if own := m.pods[uid]; own != nil && own.loops[k] == l {
			delete(own.loops, k)
		}
	})
	return l
}

// pod returns the newest version of a pod, nil if it no longer has probes.
func (m *Manager) pod(uid types.UID) *v1.Pod {
	m.mu.Lock()
	defer m.mu.Unlock()
	if own := m.pods[uid]; own != nil {
		return own.pod
	}
	return nil
}

// StopLiveness stops the probes that can restart a container of a pod, because the pod is being
// terminated.
func (m *Manager) StopLiveness(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := m.pods[uid]
	if own == nil {
		return
	}
	for k, l := range own.loops {
		if k.kind != Readiness {
			l.cancel()
		}
	}
}

// Remove stops all probes of a pod, and forgets their results.
func (m *Manager) Remove(uid types.UID) {
	m.mu.Lock()
	own := m.pods[uid]
	delete(m.pods, uid)
	m.mu.Unlock()
	if own != nil {
		for _, l := range own.loops {
			l.cancel()
		}
	}
	m.results.forget(uid)
}

// Nudge reports that the containers of a pod may have changed: probes that wait for that continue.
func (m *Manager) Nudge(uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := m.pods[uid]
	if own == nil {
		return
	}
	for _, l := range own.loops {
		select {
		case l.nudged <- struct{}{}:
		default: // one is enough
		}
	}
}

// payer returns the key of the probes that share a limit.
func (m *Manager) payer(p *v1.Pod) string {
	if tenant := m.cfg.Owner(p); tenant != "" {
		return "tenant " + tenant
	}
	return "pod " + string(p.UID)
}

// bare returns a container's ID without the name of its runtime.
func bare(id string) string {
	_, id, _ = strings.Cut(id, "://")
	return id
}
