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
)

// Sizes of the event channel and of the queue of Refresh, as in a kubelet.
const (
	maxEvents    = 1000
	maxRefreshes = 200
)

// Config is what a Generator needs. Runtime, Cache, Logger and Now are
// required; zero elsewhere means the default.
type Config struct {
	Runtime Runtime
	Cache   *Cache
	Logger  *slog.Logger
	// Now is the clock; its times carry a monotonic reading.
	Now func() time.Time
	// Period is the pause between two full lists, 1 s by default.
	Period time.Duration
	// Threshold is the age of the last full list from which the runtime
	// counts as not answering, 3 min by default.
	Threshold time.Duration
	// MaxInspect is how many pods are inspected at once, 8 by default. Pods
	// whose inspection hangs do not count.
	MaxInspect int
	// InspectTimeout bounds the inspection of one pod, 2 min by default.
	InspectTimeout time.Duration
}

// Generator lists and inspects the pods of a runtime, fills the Cache and
// tells of every step in a pod's life.
type Generator struct {
	cfg       Config
	events    chan Event
	dropped   atomic.Uint64
	listedAt  atomic.Pointer[time.Time] // when the last good list was begun
	refreshes chan refresh
	relists   chan chan error
	slots     chan struct{} // one token per inspection that does not hang

	// The rest belongs to Run. Its goroutines answer on lists and
	// inspections; nobody closes these.
	running     sync.WaitGroup
	lists       chan list
	inspections chan inspection
	records     map[types.UID]*record
	listing     bool
	serving     []chan error // who waits for the list under way
	queued      []chan error // who waits for the one after it
	listErr     loggedError
}

type refresh struct {
	uid types.UID
	at  time.Time
}

// New makes a generator; Run starts it.
func New(cfg Config) *Generator {
	cfg.Period = cmp.Or(cfg.Period, time.Second)
	cfg.Threshold = cmp.Or(cfg.Threshold, 3*time.Minute)
	cfg.MaxInspect = cmp.Or(cfg.MaxInspect, 8)
	cfg.InspectTimeout = cmp.Or(cfg.InspectTimeout, 2*time.Minute)
	return &Generator{
		cfg:         cfg,
		events:      make(chan Event, maxEvents),
		refreshes:   make(chan refresh, maxRefreshes),
		relists:     make(chan chan error),
		slots:       make(chan struct{}, cfg.MaxInspect),
		lists:       make(chan list),
		inspections: make(chan inspection),
		records:     map[types.UID]*record{},
	}
}

// Run lists at once and then periodically, until ctx ends; then it waits for
// the calls in flight and returns nil. It is called once.
func (g *Generator) Run(ctx context.Context) error {
	defer g.running.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			g.startList(ctx)
		case reply := <-g.relists:
			g.queued = append(g.queued, reply)
			g.startList(ctx)
		case l := <-g.lists:
			g.finishList(ctx, l)
			if len(g.queued) > 0 {
				g.startList(ctx)
			} else {
				timer.Reset(g.cfg.Period)
			}
		case r := <-g.refreshes:
			g.refresh(ctx, r)
		case i := <-g.inspections:
			g.finishInspection(ctx, i)
		}
	}
}

// Events is the stream of events. It holds 1000; what does not fit is
// dropped, counted and logged. It is never closed.
func (g *Generator) Events() <-chan Event { return g.events }

// Dropped counts the events that did not fit.
func (g *Generator) Dropped() uint64 { return g.dropped.Load() }

// Refresh asks for an inspection of one pod now. It never blocks: with 200
// requests waiting it is dropped, and the next full list does the work.
func (g *Generator) Refresh(uid types.UID) {
	select {
	case g.refreshes <- refresh{uid: uid, at: g.cfg.Now()}:
	default:
		g.cfg.Logger.Warn("pod refresh dropped, too many are waiting", "uid", uid)
	}
}

// Relist makes a full list that is begun after the call, and waits until the
// cache has it; inspections that follow from it may still be under way. It
// fails with the error of the runtime or of ctx, and needs Run.
func (g *Generator) Relist(ctx context.Context) error {
	reply := make(chan error, 1)
	select {
	case g.relists <- reply:
	case <-ctx.Done():
		return fmt.Errorf("waiting for a pod list to begin: %w", ctx.Err())
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return fmt.Errorf("waiting for a pod list: %w", ctx.Err())
	}
}

// Healthy fails when the runtime has not answered a list for too long.
func (g *Generator) Healthy() error {
	at := g.listedAt.Load()
	if at == nil {
		return errors.New("pleg: the runtime has yet to be listed successfully")
	}
	if age := g.cfg.Now().Sub(*at); age > g.cfg.Threshold {
		return fmt.Errorf("pleg: the runtime was last listed %s ago, more than %s; check the runtime",
			age.Round(time.Second), g.cfg.Threshold)
	}
	return nil
}

// deliver hands events to the sync loop, or drops them.
func (g *Generator) deliver(events []Event) {
	dropped := 0
	for _, e := range events {
		if e.Type == containerChanged {
			continue
		}
		select {
		case g.events <- e:
		default:
			dropped++
		}
	}
	if dropped > 0 {
		g.dropped.Add(uint64(dropped))
		g.cfg.Logger.Error("pod events dropped, the sync loop does not keep up",
			"uid", events[0].UID, "count", dropped)
	}
}
