package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/state/decisions"
)

const (
	// maxUnrecorded is how many decisions about one owner's pods may wait for the disk
	// before questions about them wait.
	maxUnrecorded = 256
	// diskPatience is how long a write may take before decisions are answered without it.
	diskPatience = 2 * time.Second
)

// tenantRecorder records decisions about one owner's pods, many at a time, and then answers
// them. If the disk fails or hangs, decisions are answered nevertheless and only shown.
type tenantRecorder struct {
	cfg    Options
	tenant string
	shown  *Decisions
	// freed is called when the recorder is no longer behind.
	freed func()

	mu      sync.Mutex
	pending []*Recording
	// waiting counts the decisions without an answer.
	waiting int
	closed  bool
	// wake has a value when something is pending; it is never closed.
	wake chan struct{}

	// The rest belongs to the goroutine of run.
	broken string
	// index has the decisions that need not be written again.
	index index
	// counts are the decisions that were repeated since the last write, by ID.
	counts  map[string]decisions.Count
	counted time.Time
}

func newTenantRecorder(c Options, tenant string, shown *Decisions, freed func()) *tenantRecorder {
	return &tenantRecorder{
		cfg: c, tenant: tenant, shown: shown, freed: freed, wake: make(chan struct{}, 1), counts: map[string]decisions.Count{},
	}
}

// put adds a decision. It does not wait for the disk.
func (r *tenantRecorder) put(x *Recording) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.waiting++
	r.pending = append(r.pending, x)
	select {
	case r.wake <- struct{}{}:
	default: // the pending wake-up is enough
	}
}

// behind reports whether too many decisions wait for the disk.
func (r *tenantRecorder) behind() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting >= maxUnrecorded
}

// run records decisions until ctx ends, and then those that are left. It must be called
// once.
func (r *tenantRecorder) run(ctx context.Context) {
	r.counted = r.cfg.Now()
	work, done := make(chan *batch), make(chan *batch, 1)
	var writing sync.WaitGroup
	writing.Go(func() {
		for b := range work {
			b.write(r.cfg.Records, r.tenant)
			done <- b
		}
	})
	defer writing.Wait()
	defer close(work)
	for {
		select {
		case <-r.wake:
		case <-ctx.Done():
			if b := r.take(true); b != nil {
				r.record(b, work, done)
			}
			r.count(true)
			return
		}
		if b := r.take(false); b != nil {
			r.record(b, work, done)
		}
		r.count(false)
	}
}

// take returns all pending decisions, nil if there are none. If last is true, no decision
// is added afterwards.
func (r *tenantRecorder) take(last bool) *batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = r.closed || last
	if len(r.pending) == 0 {
		return nil
	}
	b := &batch{all: r.pending}
	r.pending = nil
	return b
}

// record writes a batch and answers it. While the disk hangs, later decisions are
// answered at once.
func (r *tenantRecorder) record(b *batch, work chan<- *batch, done <-chan *batch) {
	r.sort(b)
	if len(b.fresh) == 0 {
		r.finish(b, "")
		return
	}
	crashpoint.Reached("record due")
	work <- b
	patience := time.NewTimer(diskPatience)
	defer patience.Stop()
	select {
	case <-done:
		crashpoint.Reached("record written")
		r.finish(b, "")
		return
	case <-patience.C:
	}
	why := fmt.Sprintf("the disk has not taken it within %s", diskPatience)
	r.fault(why)
	r.finish(b, why)
	for {
		select {
		case <-done:
			r.late(b)
			return
		case <-r.wake:
		}
		if more := r.take(false); more != nil {
			r.sort(more)
			r.finish(more, why)
		}
	}
}

// sort prepares the decisions of a batch, and finds those that must be written.
func (r *tenantRecorder) sort(b *batch) {
	first := map[decisionKey]*Recording{}
	for _, x := range b.all {
		if err := x.prepare(&r.cfg); err != nil {
			x.Decision.NotKept = err.Error()
			continue
		}
		if same := first[x.key]; same != nil {
			x.repeats = same
			continue
		}
		if old, known := r.shown.has(x.key); known {
			if old.ID != "" {
				continue
			}
			x.entry.Record.First, x.entry.Record.Count = old.First, old.Count+1
		} else if _, known := r.index.find(x.key); known {
			continue
		}
		first[x.key] = x
		b.fresh = append(b.fresh, x)
	}
}

// finish shows and answers a batch. unwritten says why nothing of it is on the disk,
// empty if it was written.
func (r *tenantRecorder) finish(b *batch, unwritten string) {
	for i, x := range b.fresh {
		switch {
		case unwritten != "":
			x.Decision.NotKept = unwritten
		case errors.Is(b.errs[i], decisions.ErrTooLarge):
			x.Decision.NotKept = b.errs[i].Error() // the disk has not failed
		case b.errs[i] != nil:
			x.Decision.NotKept = b.errs[i].Error()
			r.fault(x.Decision.NotKept)
		default:
			x.Decision.ID = x.entry.Record.ID
		}
	}
	if unwritten == "" && len(b.fresh) > 0 && b.err() == nil {
		r.fault("")
	}
	for _, x := range b.all {
		if x.repeats != nil {
			x.Decision.ID, x.Decision.NotKept = x.repeats.Decision.ID, x.repeats.Decision.NotKept
		}
		r.recall(x)
		now := r.shown.add(x.Decision, x.key)
		r.index.note(x.key, &now)
		if now.Count > 1 && now.ID != "" {
			r.repeated(&now)
		}
		x.Answer()
	}
	r.answered(b.all)
}

// recall sets the fields of a decision from the index if the decision is no longer shown.
func (r *tenantRecorder) recall(x *Recording) {
	if _, shown := r.shown.has(x.key); shown || x.Decision.NotKept != "" {
		return
	}
	r.index.recall(x.key, &x.Decision)
}

// late records that a batch which was answered too early is now written.
func (r *tenantRecorder) late(b *batch) {
	for i, x := range b.fresh {
		if b.errs[i] != nil {
			continue
		}
		x.Decision.ID, x.Decision.NotKept = x.entry.Record.ID, ""
		if _, known := r.shown.has(x.key); known {
			x.Decision.Count = 0 // it is counted
		}
		now := r.shown.add(x.Decision, x.key)
		r.index.note(x.key, &now)
	}
	if b.err() == nil {
		r.fault("")
	}
}

func (r *tenantRecorder) answered(all []*Recording) {
	r.mu.Lock()
	was := r.waiting
	r.waiting -= len(all)
	freed := was >= maxUnrecorded && r.waiting < maxUnrecorded
	r.mu.Unlock()
	if freed {
		r.freed()
	}
}

// fault logs once that the disk fails or, with an empty text, that it works again.
func (r *tenantRecorder) fault(why string) {
	switch {
	case why != "" && r.broken == "":
		r.cfg.Logger.Error("decisions are not on record; they are made all the same, and shown until the agent ends", "tenant", r.tenant, "err", why)
	case why == "" && r.broken != "":
		r.cfg.Logger.Info("decisions are on record again", "tenant", r.tenant)
	}
	r.broken = why
}

// batch has the decisions that are recorded together.
type batch struct {
	all []*Recording
	// fresh are the decisions that must be written. errs are the results of their writes.
	fresh []*Recording
	errs  []error
}

// write writes the batch to the disk.
func (b *batch) write(into Records, tenant string) {
	entries := make([]decisions.Entry, len(b.fresh))
	for i, x := range b.fresh {
		entries[i] = x.entry
	}
	b.errs = into.Append(tenant, entries)
}

// err returns a failure of the disk, nil for none.
func (b *batch) err() error {
	for _, err := range b.errs {
		if err != nil && !errors.Is(err, decisions.ErrTooLarge) {
			return err
		}
	}
	return nil
}

// countsPeriod is the shortest time between writes of repetitions, which use space that
// records could have.
const countsPeriod = time.Hour

// repeated counts a recorded decision that was made again.
func (r *tenantRecorder) repeated(d *api.Decision) {
	if _, known := r.counts[d.ID]; !known && len(r.counts) >= maxDecisions {
		return // it is counted if it is repeated again after these were written
	}
	r.counts[d.ID] = decisions.Count{ID: d.ID, Count: d.Count, Last: d.Last}
}

// count writes from time to time how often decisions were repeated.
func (r *tenantRecorder) count(last bool) {
	now := r.cfg.Now()
	if len(r.counts) == 0 || !last && now.Sub(r.counted) < countsPeriod {
		return
	}
	r.counted = now
	list := make([]decisions.Count, 0, len(r.counts))
	for _, c := range r.counts {
		list = append(list, c)
	}
	if err := r.cfg.Records.Counted(r.tenant, list); err != nil {
		r.fault(err.Error())
		return // they are tried again
	}
	clear(r.counts)
}
