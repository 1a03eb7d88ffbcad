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
	// retryInterval is the most time between two passes after one that met an
	// error, maxInterval the most at all.
	retryInterval = 5 * time.Second
	maxInterval   = 30 * time.Second
	// lookInterval is how often what is known is compared with the limits.
	lookInterval = time.Second
	// podTimeout bounds what is done for one pod in one pass.
	podTimeout = time.Minute
	// parallel is how many pods are worked on at once.
	parallel = 8
	// quiet is how long an error is not logged again.
	quiet = time.Minute
	// stopTimeout is how long calls in flight may go on after Run was told to end.
	stopTimeout = 10 * time.Second
)

// Runtime lists and removes what carries the agent's mark. What is already
// gone is no error.
type Runtime interface {
	ListPods(ctx context.Context) ([]status.ObservedPod, error)
	// InspectPod returns one pod; one that the runtime does not know has only its UID.
	InspectPod(ctx context.Context, uid types.UID) (status.ObservedPod, error)
	// StopContainer returns when the container has stopped; it is killed after grace.
	StopContainer(ctx context.Context, id string, grace time.Duration) error
	// RemoveContainer removes a container's logs, then the container. Its error is a
	// status.ErrContainerStuck where the runtime will not let go of it.
	RemoveContainer(ctx context.Context, uid types.UID, id string) error
	StopSandbox(ctx context.Context, id string) error
	RemoveSandbox(ctx context.Context, id string) error
}

// Volumes knows the pod directories.
type Volumes interface {
	// Pods lists the pods that have a directory.
	Pods() ([]types.UID, error)
	// Owner says whose a directory is: by its source annotation. The error is
	// pod.ErrUnmarked of one that is not the agent's.
	Owner(uid types.UID) (*v1.Pod, error)
	// Teardown removes the pod's volumes, Remove its directory.
	Teardown(ctx context.Context, uid types.UID) error
	Remove(ctx context.Context, uid types.UID) error
}

// Cgroups knows the cgroups of pods.
type Cgroups interface {
	Pods() ([]types.UID, error)
	// Remove fails where processes are left that may be the pod's still.
	Remove(ctx context.Context, uid types.UID) error
}

// Pods knows which pods may go. It does not block.
type Pods interface {
	// Removable reports whether everything of a pod may go: no source wants
	// it (suppressed, held and waiting pods count as wanted), its source has
	// been seen, and no worker runs it. source is the source's name; empty
	// means that it is not known, and then all sources must have been seen.
	Removable(uid types.UID, source string) bool
}

// Config is what a Collector works with. Over, Known, Limits and Now may be left
// out.
type Config struct {
	Runtime Runtime
	Volumes Volumes
	Cgroups Cgroups
	Pods    Pods
	// Over reports whether a pod that is still wanted was pushed out, or is deleted
	// and has ended: only its status is of use. It does not block. Without it no pod
	// is.
	Over func(uid types.UID) bool
	// Known returns the agent's pods as they were last seen, in the detail of a
	// listing. It makes no call and does not block; what it returns is not changed.
	// Without it only passes find what is old.
	Known func() []status.ObservedPod
	// Limits are DefaultLimits where they are zero.
	Limits Limits
	// Layout says where logs lie.
	Layout pod.Layout
	Log    *slog.Logger
	// Now is the wall clock, by which containers have an age; time.Now by default.
	Now func() time.Time
}

// Collector removes what pods leave behind.
type Collector struct {
	cfg   Config
	retry chan struct{}
	wake  chan struct{}
	slots chan struct{}
	tasks sync.WaitGroup

	// draining ends when no further call is to be made, calls when those in flight
	// are given up.
	draining context.Context
	drain    context.CancelFunc
	calls    context.Context
	abandon  context.CancelFunc

	mu      sync.Mutex
	stopped bool
	// busy holds the pods that have a task; true means look again after.
	busy map[types.UID]bool
	// claims holds the pods that are being removed. Each channel is closed
	// when that is over.
	claims map[types.UID]chan struct{}
	// due holds the pods that are to be worked on at once.
	due map[types.UID]bool
	// rests says until when a look leaves a pod alone, for it was just worked on.
	rests map[types.UID]time.Time
	// left holds the pods of which the runtime knows nothing and that could not go
	// yet, with their source.
	left map[types.UID]string
	// kept holds the containers that the runtime does not let go of, by ID.
	kept map[string]kept
	// gone is when each container and sandbox was removed, by ID.
	gone map[string]time.Time
	// logged is when each error was last logged.
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

// Run passes over all pods, at once and then every 30 seconds, and looks at what is known every second, until ctx ends and Stop has
// returned.
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

// Stop makes no further call, waits for those in flight for 10 s or until ctx ends, and
// returns when they have. It may be called more than once.
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

// proceed says whether a task may go on to its next call.
func (c *Collector) proceed(ctx context.Context) error {
	if err := c.draining.Err(); err != nil {
		return err
	}
	return ctx.Err()
}

// failed logs an error, unless it was a short while ago, and asks for another
// pass.
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
