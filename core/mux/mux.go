package mux

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state"
)

// updatesCapacity is the number of updates that may wait for the sync loop before deliveries of
// sources block, as in a kubelet's pod config.
const updatesCapacity = 50

// Source names one configured source.
type Source struct {
	Name string
	// Kind is file, http or api.
	Kind string
	// Location is the path or URL, for display.
	Location string
}

// Config configures a Mux.
type Config struct {
	// Sources are all configured sources. Other sources cannot deliver.
	Sources []Source
	// Documents stores the last valid version of every document.
	Documents Documents
	// Gate decides which versions may pass. Nil: all may. Waits receives the versions that may not
	// pass. Waits may be nil.
	Gate  Gate
	Waits Waits
	// UpdatesOnly: the gate is asked only about newer versions of pods that run under the same UID.
	// All other versions pass.
	UpdatesOnly bool
	// Filter decides when an admitted version is sent. Nil: at once.
	Filter Filter
	// Resolver decides conflicts between sources. Nil: Precedence decides. Resolutions stores the
	// Resolver's answers. Nil: they are not stored.
	Resolver    Resolver
	Resolutions Resolutions
	// Precedence is a list of sources. If several sources claim one identity, the first of them in
	// the list runs. Sources that are not in the list come last, in the order of Sources. Nil: each
	// source runs its own document.
	Precedence []string
	// StopDenied: a pod is stopped if its replacement is denied or held. A kubelet would stop it,
	// too. If false, the pod runs on.
	StopDenied bool
	// Jitter stretches the delay before a held version is judged again. Nil: no jitter.
	Jitter func(time.Duration) time.Duration
	// Changed is called by the goroutine of Run when the desired set, the waits or the conflicts
	// may have changed. It must not block. It may be nil.
	Changed func()
	// Running reports whether containers of a pod that was sent to the sync loop run, for display.
	// It must not call the Mux. Nil: all pods are shown as running.
	Running func(types.UID) bool
	Logger  *slog.Logger
	// Now is the wall clock, for first-seen times and display.
	Now func() time.Time
}

// Mux merges the documents of all sources. The package comment says which goroutine may call which
// method.
type Mux struct {
	log       *slog.Logger
	now       func() time.Time
	documents Documents
	gate      Gate
	filter    Filter
	waits     Waits
	resolver  Resolver
	// resolutions is not nil.
	resolutions Resolutions
	jitter      func(time.Duration) time.Duration
	changed     func()
	running     func(types.UID) bool
	verdicts    *inbox[api.Verdict]
	filtered    *inbox[api.FilterVerdict]
	releases    chan release
	evictions   chan eviction
	again       *inbox[types.UID]
	answers     *inbox[api.Resolution]
	deliveries  chan delivery
	updates     chan api.Update
	// ruleChanged has room for one value: all versions that wait are judged again.
	ruleChanged chan struct{}

	mu    sync.RWMutex
	store *store

	// updateSeq and changeSeq belong to the goroutine of Run.
	updateSeq, changeSeq uint64
	// dirtyRecords are the documents whose record on the disk is out of date. It belongs to the
	// goroutine of Run, too.
	dirtyRecords map[state.DocumentID]bool
}

// New returns a Mux for the given sources. Deliveries block until Run is called.
func New(c Config) *Mux {
	m := &Mux{
		log:         c.Logger,
		now:         c.Now,
		documents:   c.Documents,
		gate:        c.Gate,
		filter:      c.Filter,
		waits:       c.Waits,
		jitter:      c.Jitter,
		changed:     c.Changed,
		running:     c.Running,
		resolver:    c.Resolver,
		resolutions: c.Resolutions,
		verdicts:    newInbox[api.Verdict](),
		filtered:    newInbox[api.FilterVerdict](),
		releases:    make(chan release),
		evictions:   make(chan eviction),
		again:       newInbox[types.UID](),
		answers:     newInbox[api.Resolution](),
		deliveries:  make(chan delivery),
		updates:     make(chan api.Update, updatesCapacity),
		ruleChanged: make(chan struct{}, 1),
		store:       newStore(&c),
	}
	m.dirtyRecords = map[state.DocumentID]bool{}
	if m.resolutions == nil {
		m.resolutions = noResolutions{}
	}
	if m.waits == nil {
		m.waits = noWaits{}
	}
	if m.jitter == nil {
		m.jitter = func(d time.Duration) time.Duration { return d }
	}
	if m.changed == nil {
		m.changed = func() {}
	}
	if m.running == nil {
		m.running = func(types.UID) bool { return true }
	}
	return m
}

// SetStopDenied changes Config.StopDenied. Versions that wait are judged again, so that the new
// rule applies to the next verdict.
func (m *Mux) SetStopDenied(stop bool) {
	if m.store.stopDenied.Swap(stop) == stop {
		return
	}
	select {
	case m.ruleChanged <- struct{}{}:
	default: // the value in the channel is sufficient
	}
}

// Updates returns the merged stream. It is closed when Run returns.
func (m *Mux) Updates() <-chan api.Update { return m.updates }

// Run restores the state from the disk. It then merges deliveries and processes verdicts until ctx
// is done, and returns the error of ctx.
func (m *Mux) Run(ctx context.Context) error {
	defer close(m.updates)
	defer m.checkImmutability()
	if err := m.step(ctx, m.restore); err != nil {
		return err
	}
	var changed, nodeChanged, filtersChanged, rulesChanged <-chan struct{}
	if m.gate != nil {
		changed, nodeChanged = m.gate.Changed(), m.gate.NodeChanged()
	}
	if m.filter != nil {
		filtersChanged = m.filter.FilterChanged()
	}
	if m.resolver != nil {
		rulesChanged = m.resolver.Changed()
	}
	retry, rewrite := time.NewTimer(0), time.NewTimer(writeRetryDelay)
	defer retry.Stop()
	defer rewrite.Stop()
	for {
		m.changed()
		retry.Stop()
		if delay, ok := m.nextRetry(); ok {
			retry.Reset(delay)
		}
		var err error
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case d := <-m.deliveries:
			err = m.take(ctx, d)
			d.taken <- err
		case <-m.verdicts.ready:
			given := m.verdicts.take()
			m.persistVerdicts(given)
			err = m.step(ctx, func(t *txn) outcome { return m.store.judged(given, t, m.jitter) })
		case <-m.answers.ready:
			err = m.step(ctx, func(t *txn) outcome { return m.store.resolved(m.answers.take(), t) })
		case <-rulesChanged:
			err = m.step(ctx, func(t *txn) outcome {
				t.store.conflicts.AskAgain()
				return t.finish(outcome{})
			})
		case <-changed:
			err = m.step(ctx, func(t *txn) outcome {
				t.askWaiting()
				t.askDenied(anyPod)
				return t.finish(outcome{})
			})
		case <-m.ruleChanged:
			err = m.step(ctx, func(t *txn) outcome {
				t.askWaiting()
				return t.finish(outcome{})
			})
		case <-nodeChanged:
			err = m.step(ctx, func(t *txn) outcome {
				t.askNodeWatchers()
				return t.finish(outcome{})
			})
		case <-m.again.ready:
			err = m.step(ctx, func(t *txn) outcome {
				t.askAgain(m.again.take())
				return t.finish(outcome{})
			})
		case <-m.filtered.ready:
			err = m.applyFilterAnswers(ctx, m.filtered.take(), nil, nil)
		case r := <-m.releases:
			err = m.release(ctx, r)
		case e := <-m.evictions:
			err = m.evict(ctx, e)
		case <-filtersChanged:
			err = m.step(ctx, func(t *txn) outcome {
				t.askFilterAgain()
				return t.finish(outcome{})
			})
		case <-retry.C:
			due := m.dueWaits()
			err = m.applyFilterAnswers(ctx, nil, m.store.overdue(due, m.now()), due)
		case <-rewrite.C:
			if rewrite.Reset(writeRetryDelay); len(m.dirtyRecords) > 0 {
				err = m.step(ctx, m.retryWrites)
			}
		}
		if err != nil {
			return err
		}
	}
}

func (m *Mux) checkImmutability() {
	if err := m.store.immutability.check(); err != nil {
		m.log.Error(changedPod, "err", err)
	}
}

// take merges one delivery and sends the resulting changes.
func (m *Mux) take(ctx context.Context, d delivery) error {
	return m.step(ctx, func(t *txn) outcome { return m.store.merge(d, t) })
}

// nextRetry returns the time until the next held version is due; false if none is.
func (m *Mux) nextRetry() (time.Duration, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at, ok := m.store.pending.NextDue()
	return max(at.Sub(m.now()), 0), ok
}

// dueWaits removes and returns the versions that are due, in the order in which they began to wait.
func (m *Mux) dueWaits() []*pendingVersion {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.store.pending.TakeDue(m.now())
}
