package shutdown

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/backoff"
	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/state"
)

// Config holds the settings and dependencies of a Manager. All fields are required but Changed,
// Record and Observer.
type Config struct {
	// Periods are the times for pods by ascending priority; at least one.
	Periods []Period
	// Priority returns the priority by which a pod is terminated.
	Priority func(p *v1.Pod) int32
	Pods     Pods
	// Connect connects to logind; see Connect.
	Connect func(ctx context.Context) (Logind, error)
	// DropIn is the file that raises logind's limit for delays, an absolute path.
	DropIn string
	// Times keep when the last shutdown began and ended.
	Times Times
	// Changed is called after the result of ShuttingDown has changed.
	Changed func()
	// Record records an event about the node.
	Record   func(message string)
	Observer Observer
	Log      *slog.Logger
	// Now is the wall clock.
	Now func() time.Time
}

// Pods are the pods of the node.
type Pods interface {
	// Active returns the pods that are not known to have terminated, in any order.
	Active() []*v1.Pod
	// Terminate stops the containers of a pod within grace, or within the rest of the grace period
	// that already runs if that is shorter. finish changes the final status of the pod. The returned
	// channel is closed when the containers have stopped. Terminate does not block.
	Terminate(p *v1.Pod, grace time.Duration, finish func(*v1.PodStatus)) (stopped <-chan struct{})
	// Released reports whether nothing of the pod is left to stop or to unmount.
	Released(uid types.UID) bool
}

// Logind is a connection to systemd-logind. Bus implements it. Errors of its methods name the
// property or the method that failed.
type Logind interface {
	// InhibitDelay returns the longest time for which logind delays a shutdown.
	InhibitDelay(ctx context.Context) (time.Duration, error)
	// Reload makes logind read its configuration again. It returns before that has an effect.
	Reload(ctx context.Context) error
	// Inhibit returns a lock that delays shutdowns until it is closed.
	Inhibit(ctx context.Context) (io.Closer, error)
	// ShuttingDown reports whether a shutdown is under way.
	ShuttingDown(ctx context.Context) (bool, error)
	// Shutdowns returns a channel with true for each shutdown that begins, and false for each that
	// was cancelled. It is closed when the connection is lost.
	Shutdowns() <-chan bool
	Close() error
}

// Times keep the times of the last shutdown over restarts of the agent.
type Times interface {
	// Load returns the zero value if there was no shutdown.
	Load() (state.Shutdown, error)
	Store(s state.Shutdown) error
}

// Observer records the times of the last shutdown. A zero time means that there was none, or that
// it has not ended.
type Observer interface {
	Shutdown(began, ended time.Time)
}

// Manager delays shutdowns of the machine until the pods have terminated.
type Manager struct {
	cfg Config
	// reconnects are the delays between attempts to connect, and reloads those between the checks
	// whether logind has read its configuration again.
	reconnects, reloads backoff.Exponential
	// lost and limited limit the log entries about a lost connection, and about a limit of logind that
	// is too low.
	lost, limited faultlog.Pace

	down atomic.Bool
	// cancel cancels the termination of pods, nil if none was begun. terminating waits for it. Only
	// Run uses both.
	cancel      context.CancelFunc
	terminating sync.WaitGroup

	mu sync.Mutex
	// lock is the delay lock of logind, nil for none.
	lock io.Closer
}

// New returns a Manager. Run starts it.
func New(cfg Config) *Manager {
	return &Manager{
		cfg: cfg, reconnects: backoff.Exponential{Min: time.Second, Max: time.Minute},
		reloads: backoff.Exponential{Min: 100 * time.Millisecond, Max: 2 * time.Second},
	}
}

// ShuttingDown reports whether the machine shuts down. A nil Manager reports false. It may be called
// from any goroutine.
func (m *Manager) ShuttingDown() bool { return m != nil && m.down.Load() }

// errShuttingDown is the message of a kubelet.
var errShuttingDown = errors.New("node is shutting down")

// Healthy returns an error if the machine shuts down, for the condition of the node. It may be
// called from any goroutine.
func (m *Manager) Healthy() error {
	if m.ShuttingDown() {
		return errShuttingDown
	}
	return nil
}

var errLost = errors.New("the connection to D-Bus was lost")

// Run delays and follows shutdowns until ctx ends. If logind cannot be reached, it tries again
// after 1 s, and then after longer delays up to a minute.
func (m *Manager) Run(ctx context.Context) {
	defer m.releaseLock()
	defer m.stopTerminating()
	m.restoreTimes()
	for delay := m.reconnects.Min; ; delay = m.reconnects.Next(delay) {
		watched, err := m.watch(ctx)
		if ctx.Err() != nil {
			return
		}
		if watched {
			delay = m.reconnects.Min
		}
		if m.lost.Due("", err.Error(), m.cfg.Now()) {
			m.cfg.Log.Warn("a shutdown of the machine does not wait for pods", "err", err)
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// watch connects to logind and follows shutdowns until the connection is lost or ctx ends. watched
// is true if the connection was usable.
func (m *Manager) watch(ctx context.Context) (watched bool, err error) {
	bus, err := m.cfg.Connect(ctx)
	if err != nil {
		return false, err
	}
	defer bus.Close()
	down, err := bus.ShuttingDown(ctx)
	if err != nil {
		return false, err
	}
	if !down {
		m.raiseDelay(ctx, bus)
	}
	if err := m.follow(ctx, bus, down); err != nil {
		return false, err
	}
	if m.lost.Over() {
		m.cfg.Log.Info("a shutdown of the machine waits for pods again")
	}
	for {
		select {
		case down, open := <-bus.Shutdowns():
			if !open {
				return true, errLost
			}
			if err := m.follow(ctx, bus, down); err != nil {
				return true, err
			}
		case <-ctx.Done():
			return true, ctx.Err()
		}
	}
}

// follow begins or cancels the termination of pods. While no shutdown is under way, it takes a new
// lock: an earlier one may belong to a logind that no longer runs.
func (m *Manager) follow(ctx context.Context, bus Logind, down bool) error {
	if was := m.down.Swap(down); was != down {
		m.changed(down)
		if down {
			m.startTerminating(ctx)
		} else {
			m.stopTerminating()
		}
	}
	if down {
		return nil
	}
	lock, err := bus.Inhibit(ctx)
	if err != nil {
		return fmt.Errorf("systemd-logind refuses a delay lock: %w", err)
	}
	m.setLock(lock)
	return nil
}

// changed reports that a shutdown has begun or was cancelled, with the messages of a kubelet.
func (m *Manager) changed(down bool) {
	message := "Shutdown manager detected shutdown cancellation"
	if down {
		message = "Shutdown manager detected shutdown event"
		m.cfg.Log.Info("the machine shuts down; pods terminate first")
	} else {
		m.cfg.Log.Info("the shutdown of the machine was cancelled; no further pods terminate")
	}
	if m.cfg.Changed != nil {
		m.cfg.Changed()
	}
	if m.cfg.Record != nil {
		m.cfg.Record(message)
	}
}

// startTerminating terminates the pods in a goroutine, which then releases the lock.
func (m *Manager) startTerminating(ctx context.Context) {
	ctx, m.cancel = context.WithCancel(ctx)
	m.terminating.Go(func() {
		defer m.releaseLock()
		m.terminatePods(ctx)
	})
}

// stopTerminating cancels the termination of further pods, and waits until no more are requested to
// terminate.
func (m *Manager) stopTerminating() {
	if m.cancel == nil {
		return
	}
	m.cancel()
	m.terminating.Wait()
	m.cancel = nil
}

// setLock replaces the lock, so that there is always one.
func (m *Manager) setLock(lock io.Closer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lock != nil {
		m.lock.Close()
	}
	m.lock = lock
}

// releaseLock lets a shutdown continue.
func (m *Manager) releaseLock() { m.setLock(nil) }
