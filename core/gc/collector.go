package gc

import (
	"context"
	"log/slog"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

const (
	// retryInterval is the longest time until the next pass after one that met an error, and
	// maxInterval is the longest time after any pass.
	retryInterval = 5 * time.Second
	maxInterval   = 30 * time.Second
	// lookInterval is how often the known state is compared with the limits.
	lookInterval = time.Second
	// podTimeout limits the work for one pod in one pass.
	podTimeout = time.Minute
	// parallel is how many pods are processed at once.
	parallel = 8
	// quiet is how long a logged error is not logged again.
	quiet = time.Minute
	// stopTimeout is how long calls in flight may continue after Run was stopped.
	stopTimeout = 10 * time.Second
)

// Runtime lists and removes objects with the agent's mark. To remove what is already gone is no
// error.
type Runtime interface {
	ListPods(ctx context.Context) ([]status.ObservedPod, error)
	// InspectPod returns one pod. For a pod that the runtime does not have, it returns only the
	// UID.
	InspectPod(ctx context.Context, uid types.UID) (status.ObservedPod, error)
	// StopContainer returns when the container has stopped; it is killed after grace.
	StopContainer(ctx context.Context, id string, grace time.Duration) error
	// RemoveContainer removes a container's logs, then the container. The error is a
	// status.ErrContainerStuck if the runtime does not remove the container.
	RemoveContainer(ctx context.Context, uid types.UID, id string) error
	StopSandbox(ctx context.Context, id string) error
	RemoveSandbox(ctx context.Context, id string) error
}

// Volumes manages the pod directories.
type Volumes interface {
	// Pods lists the pods that have a directory.
	Pods() ([]types.UID, error)
	// Owner returns the pod to which a directory belongs, with its source annotation. The error is
	// pod.ErrUnmarked for a directory that is not the agent's.
	Owner(uid types.UID) (*v1.Pod, error)
	// Teardown removes the pod's volumes, Remove its directory.
	Teardown(ctx context.Context, uid types.UID) error
	Remove(ctx context.Context, uid types.UID) error
}

// Cgroups manages the cgroups of pods.
type Cgroups interface {
	Pods() ([]types.UID, error)
	// Remove fails if processes are left that may still belong to the pod.
	Remove(ctx context.Context, uid types.UID) error
}

// Pods decides which pods may be removed. It does not block.
type Pods interface {
	// Removable reports whether everything of a pod may be removed: no source wants it (suppressed,
	// held and waiting pods count as wanted), its source has been seen, and no worker runs it.
	// source is the source's name; if it is empty, the source is unknown, and all sources must have
	// been seen.
	Removable(uid types.UID, source string) bool
}

// Config holds the settings and dependencies of a Collector. Over, Ended, Known, Limits and Now are
// optional.
type Config struct {
	Runtime Runtime
	Volumes Volumes
	Cgroups Cgroups
	Pods    Pods
	// Over reports whether only the status of a wanted pod is still needed, because it was evicted,
	// or is deleted and has ended. It does not block. If it is nil, there are no such pods.
	Over func(uid types.UID) bool
	// Ended reports whether a pod's worker has seen it terminate, so that RemoveDeadContainers may remove
	// what it has left. It does not block. If it is nil, there are no such pods.
	Ended func(uid types.UID) bool
	// Known returns the agent's pods as they were last seen, with the details of a listing. It
	// makes no call and does not block, and its result must not be modified. If it is nil, only
	// passes find old objects.
	Known func() []status.ObservedPod
	// Limits are the limits for dead containers; the zero value means DefaultLimits.
	Limits Limits
	// Layout returns the paths of logs.
	Layout pod.Layout
	Log    *slog.Logger
	// Now is the wall clock, from which the age of containers is computed; time.Now by default.
	Now func() time.Time
}

// Collector removes what pods leave behind.
type Collector struct {
	cfg   Config
	retry chan struct{}
	wake  chan struct{}
	slots chan struct{}
	tasks sync.WaitGroup

	// draining is done when no further call may be made. calls is done when the calls in flight are
	// abandoned.
	draining context.Context
	drain    context.CancelFunc
	calls    context.Context
	abandon  context.CancelFunc

	mu      sync.Mutex
	stopped bool
	// busy has the pods with a task. The value is true if another task has to follow it.
	busy map[types.UID]bool
	// claims has the pods that are being removed. Each channel is closed when the removal is
	// complete.
	claims map[types.UID]chan struct{}
	// due has the pods that need a task at once.
	due map[types.UID]bool
	// rests has the time until which a look skips a pod, because a task has just processed it.
	rests map[types.UID]time.Time
	// left has the pods that the runtime does not have and that could not be removed yet, with
	// their source.
	left map[types.UID]string
	// kept has the containers that the runtime does not remove, by ID.
	kept map[string]kept
	// gone is the time when each container or sandbox was removed, by ID.
	gone map[string]time.Time
	// logged is the time when each error was last logged.
	logged map[string]time.Time
}

// New makes a Collector; Run starts it.
func New(cfg Config) *Collector {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Limits == (Limits{}) {
		cfg.Limits = DefaultLimits()
	}
	if cfg.Over == nil {
		cfg.Over = func(types.UID) bool { return false }
	}
	if cfg.Known == nil {
		cfg.Known = func() []status.ObservedPod { return nil }
	}
	c := &Collector{
		cfg:    cfg,
		retry:  make(chan struct{}, 1),
		wake:   make(chan struct{}, 1),
		slots:  make(chan struct{}, parallel),
		busy:   map[types.UID]bool{},
		claims: map[types.UID]chan struct{}{},
		due:    map[types.UID]bool{},
		rests:  map[types.UID]time.Time{},
		left:   map[types.UID]string{},
		kept:   map[string]kept{},
		gone:   map[string]time.Time{},
		logged: map[string]time.Time{},
	}
	c.draining, c.drain = context.WithCancel(context.Background())
	c.calls, c.abandon = context.WithCancel(context.Background())
	return c
}

func signal(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// Run passes over all pods, at once and then every 30 seconds, and looks at the known state every
// second. When ctx is done it calls Stop and then returns.
func (c *Collector) Run(ctx context.Context) {
	defer c.Stop(context.WithoutCancel(ctx))
	timer := time.NewTimer(0)
	defer timer.Stop()
	look := time.NewTicker(lookInterval)
	defer look.Stop()
	var next time.Time
	soonest := func(at time.Time) {
		if at.Before(next) {
			next = at
			timer.Reset(time.Until(next))
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.retry:
			soonest(time.Now().Add(retryInterval))
		case <-c.wake:
			c.workOnDue()
		case <-look.C:
			c.look()
		case <-timer.C:
			c.pass(ctx)
			next = time.Now().Add(maxInterval)
			timer.Reset(maxInterval)
		}
	}
}

// Stop makes no further call, and waits for those in flight for 10 s or until ctx is done. It then
// cancels them and returns when they have returned. It may be called more than once.
func (c *Collector) Stop(ctx context.Context) {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.drain()
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, c.abandon)
	c.tasks.Wait()
	stop()
	c.abandon()
}

// proceed returns an error if a task must make no further call.
func (c *Collector) proceed(ctx context.Context) error {
	if err := c.draining.Err(); err != nil {
		return err
	}
	return ctx.Err()
}

// failed logs an error, unless it was logged recently, and requests another pass.
func (c *Collector) failed(ctx context.Context, uid types.UID, message string, err error) {
	if c.draining.Err() == nil && ctx.Err() == nil {
		signal(c.retry)
		c.warn(uid, message, err)
	}
}

func (c *Collector) warn(uid types.UID, message string, err error) {
	key := string(uid) + "\n" + message
	c.mu.Lock()
	last, logged := c.logged[key]
	logged = logged && time.Since(last) < quiet
	if !logged {
		c.logged[key] = time.Now()
	}
	c.mu.Unlock()
	if !logged {
		c.cfg.Log.Warn("garbage collection is not complete", "what", message, "uid", uid, "err", err)
	}
}
