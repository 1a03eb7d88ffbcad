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

// Kind is what a probe is for.
type Kind string

// The kinds of probes, as events name them.
const (
	Startup   Kind = "Startup"
	Liveness  Kind = "Liveness"
	Readiness Kind = "Readiness"
)

// Runner carries out a probe once; see handler.Runner.
type Runner interface {
	Probe(ctx context.Context, to handler.Target, probe *v1.Probe) (handler.Outcome, error)
}

// Config is what a Manager works with. All fields are needed.
type Config struct {
	Runner Runner
	// Statuses has the newest status of each pod; what is found of a container goes into it.
	Statuses *status.Store
	// Save, if not nil, keeps over restarts of the agent what is found of a container; st is the status of its pod.
	Save   func(p *v1.Pod, st *v1.PodStatus)
	Events status.Recorder
	// Owner is the tenant of a pod, "" for none: a pod of none has its probes to itself.
	Owner func(p *v1.Pod) string
	// Spread returns a random time from 0 to d: probes of a node that has just started do not all begin at once.
	Spread func(d time.Duration) time.Duration
	Now    func() time.Time
	Log    *slog.Logger
}

const (
	// atOnce is how many probes of one owner run at a time.
	atOnce = 64
	// longest is how long a probe counts as one of these. After that it goes on, but others no longer wait for it.
	longest = 2 * time.Second
)

// Manager has the probes of all pods. It is safe for concurrent use.
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

// podProbes are those of one pod.
type podProbes struct {
	// pod is its newest version.
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

// Run waits until ctx is done, then ends all probes and waits for them.
func (m *Manager) Run(ctx context.Context) {
	<-ctx.Done()
	m.mu.Lock()
	m.cancel()
	m.mu.Unlock()
	m.loops.Wait()
}

// Add begins the probes of a pod that are not under way, and returns those that are its newest version.
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

// begin starts the goroutine of a probe. m.mu is held.
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

// pod returns the newest version of a pod, nil where it has no probes any more.
func (m *Manager) pod(uid types.UID) *v1.Pod {
	m.mu.Lock()
	defer m.mu.Unlock()
	if own := m.pods[uid]; own != nil {
		return own.pod
	}
	return nil
}

// StopLiveness ends the probes of a pod that would have a container of it restarted: it is to end.
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

// Remove ends all probes of a pod, and forgets what they found.
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

// Nudge says that the containers of a pod may not be what they were: probes that waited for that go on.
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

// payer is whose probes wait for each other.
func (m *Manager) payer(p *v1.Pod) string {
	if tenant := m.cfg.Owner(p); tenant != "" {
		return "tenant " + tenant
	}
	return "pod " + string(p.UID)
}

// bare is a container's ID without the name of its runtime.
func bare(id string) string {
	_, id, _ = strings.Cut(id, "://")
	return id
}
