package pleg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/status"
)

// maxEvents is the size of the event channel, as in a kubelet.
const maxEvents = 1000

// Config holds the settings and dependencies of a Generator. Runtime, Cache, Logger and Now are
// required; the zero value of any other field means its default.
type Config struct {
	Runtime Runtime
	Cache   *Cache
	Logger  *slog.Logger
	// Now is the clock; its times carry a monotonic reading. Readers of the Cache use the same
	// clock.
	Now func() time.Time
	// Observer is nil for none.
	Observer Observer
	// Period is the pause between two full lists while the runtime's events are not relied on, 1 s
	// by default. SafetyPeriod is the pause while they are, 60 s by default.
	Period, SafetyPeriod time.Duration
	// SettleTime is how long after opening its event stream the runtime may still omit events, 3 s
	// by default.
	SettleTime time.Duration
	// Threshold is the age of the last full list from which on the runtime counts as not answering,
	// 3 min by default.
	Threshold time.Duration
	// MaxInspect is how many pods are inspected at once, 8 by default. Pods
	// whose inspection hangs do not count.
	MaxInspect int
	// InspectTimeout bounds the inspection of one pod, 2 min by default.
	InspectTimeout time.Duration
}

// Generator lists and inspects the pods of a runtime, fills the Cache and sends an event for every
// change of a pod.
type Generator struct {
	cfg       Config
	events    chan Event
	dropped   atomic.Uint64
	listedAt  atomic.Pointer[time.Time] // when the last successful list was begun
	listFault atomic.Pointer[error]     // the error of the last list, nil if it succeeded
	streaming atomic.Bool               // the runtime's events are relied on
	requests  *inspectRequests
	relists   chan chan error
	slots     chan struct{} // one token per inspection that does not hang
	hanging   atomic.Int32  // inspections that hang
	freed     chan struct{} // an inspection hangs; room for one value, never closed

	// Only Run uses the fields below. Its goroutines answer on lists, inspections and
	// streamChanges, which are never closed.
	running       sync.WaitGroup
	calls         calls
	lists         chan list
	inspections   chan inspection
	streamChanges chan streamChange
	records       map[types.UID]*record
	queue         queue
	timer         *time.Timer // the next list
	listing       bool
	listSoon      bool // another list is due after the one under way
	// waiters wait for the list under way, nextWaiters for the one after it.
	waiters        []chan error
	nextWaiters    []chan error
	listErr        faultlog.Pace
	round          uint64 // the number of the last list
	unchanged      []bool // for each pod in a list, true if it is unchanged
	delayed        *delayedInspections
	stream         stream
	streamErr      faultlog.Pace
	overflowErr    faultlog.Pace // the channel of events
	noEventsLogged bool          // it was logged that the runtime sends no events
	suspectTimer   *time.Timer   // fires when a missing event counts as lost
}

// New makes a generator; Run starts it.
func New(cfg Config) *Generator {
	cfg.Period = cmp.Or(cfg.Period, time.Second)
	cfg.SafetyPeriod = cmp.Or(cfg.SafetyPeriod, time.Minute)
	cfg.SettleTime = cmp.Or(cfg.SettleTime, 3*time.Second)
	cfg.Threshold = cmp.Or(cfg.Threshold, 3*time.Minute)
	cfg.MaxInspect = cmp.Or(cfg.MaxInspect, 8)
	cfg.InspectTimeout = cmp.Or(cfg.InspectTimeout, 2*time.Minute)
	if cfg.Observer == nil {
		cfg.Observer = noopObserver{}
	}
	g := &Generator{
		cfg:           cfg,
		events:        make(chan Event, maxEvents),
		requests:      newInspectRequests(),
		relists:       make(chan chan error),
		slots:         make(chan struct{}, cfg.MaxInspect),
		freed:         make(chan struct{}, 1),
		lists:         make(chan list),
		inspections:   make(chan inspection),
		streamChanges: make(chan streamChange),
		records:       map[types.UID]*record{},
	}
	cfg.Cache.setRequest(g.requests.request)
	return g
}

// Run lists at once and then periodically, and follows the runtime's events, until ctx is done.
// Then it waits for the calls in flight, 5 s at most, and returns nil. It may be called only once.
func (g *Generator) Run(ctx context.Context) error {
	defer g.end()
	g.timer = time.NewTimer(0)
	defer g.timer.Stop()
	g.suspectTimer = time.NewTimer(time.Hour)
	g.suspectTimer.Stop()
	defer g.suspectTimer.Stop()
	g.delayed = newDelayedInspections()
	defer g.delayed.timer.Stop()
	g.running.Go(func() { g.watch(ctx) })
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-g.timer.C:
			g.startList(ctx)
		case reply := <-g.relists:
			g.nextWaiters = append(g.nextWaiters, reply)
			g.startList(ctx)
		case l := <-g.lists:
			g.finishList(ctx, l)
		case <-g.requests.wake:
			g.handleRequests(ctx)
		case i := <-g.inspections:
			g.finishInspection(ctx, i)
		case <-g.freed:
			g.startQueued(ctx)
		case n := <-g.streamChanges:
			g.handleStreamChange(ctx, n)
		case <-g.delayed.timer.C:
			g.inspectDelayed(ctx)
		case <-g.suspectTimer.C:
			g.dropSilentStream(ctx)
		}
	}
}

// Events returns the stream of events. It holds 1000; further events are dropped, counted and
// logged. It is never closed.
func (g *Generator) Events() <-chan Event { return g.events }

// Refresh requests an inspection of one pod that starts after this call. It never blocks, and the
// request is never lost, because there is room for one request of each pod.
func (g *Generator) Refresh(uid types.UID) { g.requests.request(uid, g.cfg.Now()) }

// Dropped returns the number of dropped events.
func (g *Generator) Dropped() uint64 { return g.dropped.Load() }

// Listed returns when the last successful full list was begun, zero if there was none.
func (g *Generator) Listed() time.Time {
	if at := g.listedAt.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// Streaming reports whether the runtime's events are relied on.
func (g *Generator) Streaming() bool { return g.streaming.Load() }

// Healthy returns an error if the runtime has not answered a list for too long, whether it sends
// events or not.
func (g *Generator) Healthy() error {
	at := g.Listed()
	if at.IsZero() {
		return g.withFault(errors.New("pleg: the runtime has yet to be listed successfully"))
	}
	if age := g.cfg.Now().Sub(at); age > g.cfg.Threshold {
		return g.withFault(fmt.Errorf("pleg: the runtime was last listed %s ago, more than %s; check the runtime",
			age.Round(time.Second), g.cfg.Threshold))
	}
	return nil
}

// withFault adds the error of the last list, if it failed.
func (g *Generator) withFault(err error) error {
	if fault := g.listFault.Load(); fault != nil {
		return fmt.Errorf("%w: %w", err, *fault)
	}
	return err
}

// Runtime is the part of a container runtime that the generator uses. All calls return soon after
// their context is done. An inspection that does not is abandoned, and its pod cannot be inspected
// until it returns.
type Runtime interface {
	// ListPods returns every pod that has a sandbox or a container, whether running or not. It has
	// a timeout of its own: the next list waits for it.
	ListPods(ctx context.Context) ([]status.ObservedPod, error)
	// InspectPod returns all that is known about one pod. For a pod that the runtime does not have,
	// it returns a pod without sandboxes and containers, not an error.
	InspectPod(ctx context.Context, uid types.UID) (status.ObservedPod, error)
	// WatchPods reports changes until the stream of events breaks, and returns the reason; the
	// error is never nil. It calls opened when it has sent the request to the runtime, which is
	// some time before the runtime reports all changes. It calls changed for every change. Both are
	// called on the goroutine of WatchPods. changed does not block. The error is status.ErrNoEvents
	// if the runtime has no stream.
	WatchPods(ctx context.Context, opened func(), changed func(status.PodChange)) error
}

// Observer records measurements of a generator, for metrics. Run calls its methods one at a time;
// they return at once.
type Observer interface {
	// Relisted records how long a full list took, successful or not, without the inspections that
	// follow from it.
	Relisted(took time.Duration)
	// Interval records the time from the beginning of the last successful full list to the
	// beginning of a new one.
	Interval(d time.Duration)
	// Inspected records how long an inspection of a pod took, successful or not, since it was
	// requested.
	Inspected(took time.Duration)
	// StreamUp records whether the runtime's events are relied on from now on. It is called when
	// that changes; at first they are not relied on.
	StreamUp(up bool)
	// Dropped records how many events did not fit into the channel.
	Dropped(n int)
	// Lag records the time from an event of the runtime until its change was in the cache and
	// delivered. It is never negative. An event that seems to be more than a minute old is left
	// out, because the clock was set.
	Lag(d time.Duration)
}

// noopObserver observes nothing.
type noopObserver struct{}

func (noopObserver) Relisted(time.Duration)  {}
func (noopObserver) Interval(time.Duration)  {}
func (noopObserver) Inspected(time.Duration) {}
func (noopObserver) StreamUp(bool)           {}
func (noopObserver) Dropped(int)             {}
func (noopObserver) Lag(time.Duration)       {}
