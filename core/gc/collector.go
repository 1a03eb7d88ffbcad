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
	// minInterval is the least time between two passes, retryInterval the
	// most after one that met an error, maxInterval the most at all.
	minInterval   = time.Second
	retryInterval = 5 * time.Second
	maxInterval   = 30 * time.Second
	// podTimeout bounds what is done for one pod in one pass.
	podTimeout = time.Minute
	// parallel is how many pods are worked on at once.
	parallel = 8
	// quiet is how long an error is not logged again.
	quiet = time.Minute
)

// Runtime lists and removes what carries the agent's mark. What is already
// gone is no error.
type Runtime interface {
	ListPods(ctx context.Context) ([]status.ObservedPod, error)
	// RemoveContainer removes a container's logs, then the container.
	RemoveContainer(ctx context.Context, uid types.UID, id string) error
	StopSandbox(ctx context.Context, id string) error
	RemoveSandbox(ctx context.Context, id string) error
}

// Volumes knows the pod directories.
type Volumes interface {
	// Pods lists the pods that have a directory.
	Pods() ([]types.UID, error)
	// Owner says whose a directory is: name, namespace and source annotation.
	Owner(uid types.UID) (*v1.Pod, error)
	// Teardown removes the pod's volumes, Remove its directory.
	Teardown(ctx context.Context, uid types.UID) error
	Remove(ctx context.Context, uid types.UID) error
}

// Cgroups knows the cgroups of pods.
type Cgroups interface {
	Pods() ([]types.UID, error)
	// Remove fails where processes are left.
	Remove(ctx context.Context, uid types.UID) error
}

// Pods knows which pods may go.
type Pods interface {
	// Removable reports whether everything of a pod may go: no source wants
	// it (suppressed, held and waiting pods count as wanted), its source has
	// been seen, and no worker runs it. source is the source's name; empty
	// means that it is not known, and then all sources must have been seen.
	Removable(uid types.UID, source string) bool
}

// Config is what a Collector works with. All fields are needed.
type Config struct {
	Runtime Runtime
	Volumes Volumes
	Cgroups Cgroups
	Pods    Pods
	// Layout says where logs lie.
	Layout pod.Layout
	Log    *slog.Logger
}

// Collector removes what pods leave behind.
type Collector struct {
	cfg   Config
	nudge chan struct{}
	retry chan struct{}
	slots chan struct{}
	tasks sync.WaitGroup

	mu sync.Mutex
	// busy holds the pods that have a task; true means look again after.
	busy map[types.UID]bool
	// claims holds the pods that are being removed. Each channel is closed
	// when that is over.
	claims map[types.UID]chan struct{}
	// logged is when each error was last logged.
	logged map[string]time.Time
}

// New makes a Collector; Run starts it.
func New(cfg Config) *Collector {
	return &Collector{
		cfg:    cfg,
		nudge:  make(chan struct{}, 1),
		retry:  make(chan struct{}, 1),
		slots:  make(chan struct{}, parallel),
		busy:   map[types.UID]bool{},
		claims: map[types.UID]chan struct{}{},
		logged: map[string]time.Time{},
	}
}

// Nudge says that something may have become removable: the next pass comes
// within a second. It does not block.
func (c *Collector) Nudge() { signal(c.nudge) }

func signal(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// Run passes over all pods, at once and then after each Nudge and every 30
// seconds, until ctx ends and the last task has returned.
func (c *Collector) Run(ctx context.Context) {
	defer c.tasks.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var last, next time.Time
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
		case <-c.nudge:
			soonest(last.Add(minInterval))
		case <-c.retry:
			soonest(time.Now().Add(retryInterval))
		case <-timer.C:
			c.pass(ctx)
			last = time.Now()
			next = last.Add(maxInterval)
			timer.Reset(maxInterval)
		}
	}
}

// failed logs an error, unless it was a short while ago, and asks for another
// pass.
func (c *Collector) failed(ctx context.Context, uid types.UID, message string, err error) {
	if ctx.Err() == nil {
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
