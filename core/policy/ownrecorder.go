package policy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/internal/crashpoint"
	"github.com/wardlet/wardlet/core/state"
)

const (
	// maxUnrecorded is how many decisions about one owner's pods may wait for the
	// disk before no more questions about them are taken.
	maxUnrecorded = 256
	// diskPatience is how long the disk may take for a batch before decisions go on
	// without it.
	diskPatience = 2 * time.Second
)

// ownRecorder puts decisions about one owner's pods on record, many at a time, and
// has them answered then. Where the disk fails or hangs, they are answered all the
// same and only shown.
type ownRecorder struct {
	cfg    *Config
	tenant string
	shown  *decisions
	// freed is called when it was behind and is not any more.
	freed func()

	mu      sync.Mutex
	pending []*recording
	// waiting counts those that are not answered.
	waiting int
	closed  bool
	// wake has a value when something is pending; it is never closed.
	wake chan struct{}

	// The rest belongs to the goroutine of run.
	broken string
	// index has what need not be written again.
	index recordIndex
	// counts are the decisions that were repeated since that was written, by ID.
	counts  map[string]state.DecisionCount
	counted time.Time
}

func newOwnRecorder(c *Config, tenant string, shown *decisions, freed func()) *ownRecorder {
	return &ownRecorder{
		cfg: c, tenant: tenant, shown: shown, freed: freed, wake: make(chan struct{}, 1), counts: map[string]state.DecisionCount{},
	}
}

// put takes a decision. It does not wait for the disk.
func (r *ownRecorder) put(x *recording) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.waiting++
	r.pending = append(r.pending, x)
	select {
	case r.wake <- struct{}{}:
	default: // it will be taken with what woke it
	}
}

// behind reports whether too many decisions wait for the disk.
func (r *ownRecorder) behind() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting >= maxUnrecorded
}

// run records until ctx ends, and then what is left. It must be called once.
func (r *ownRecorder) run(ctx context.Context) {
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

// take gives all that is pending, nil for nothing. After the last one nothing is
// taken in any more.
func (r *ownRecorder) take(last bool) *batch {
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

// record has a batch written, and answers it. While the disk does not come back,
// what comes after it is answered at once.
func (r *ownRecorder) record(b *batch, work chan<- *batch, done <-chan *batch) {
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
func (r *ownRecorder) sort(b *batch) {
	first := map[decisionKey]*recording{}
	for _, x := range b.all {
		if err := x.prepare(r.cfg); err != nil {
			x.decision.NotKept = err.Error()
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

// finish shows and answers a batch. unwritten says why nothing of it is on the
// disk, empty where it has been written.
func (r *ownRecorder) finish(b *batch, unwritten string) {
	for i, x := range b.fresh {
		switch {
		case unwritten != "":
			x.decision.NotKept = unwritten
		case errors.Is(b.errs[i], state.ErrTooLarge):
			x.decision.NotKept = b.errs[i].Error() // nothing is wrong with the disk
		case b.errs[i] != nil:
			x.decision.NotKept = b.errs[i].Error()
			r.fault(x.decision.NotKept)
		default:
			x.decision.ID = x.entry.Record.ID
		}
	}
	if unwritten == "" && len(b.fresh) > 0 && b.err() == nil {
		r.fault("")
	}
	for _, x := range b.all {
		if x.repeats != nil {
			x.decision.ID, x.decision.NotKept = x.repeats.decision.ID, x.repeats.decision.NotKept
		}
		r.recall(x)
		now := r.shown.add(x.decision, x.key)
		r.index.note(x.key, &now)
		if now.Count > 1 && now.ID != "" {
			r.repeated(&now)
		}
		x.answer()
	}
	r.answered(b.all)
}

// recall takes from the index what is on record of a decision that is not shown any
// more.
func (r *ownRecorder) recall(x *recording) {
	if _, shown := r.shown.has(x.key); shown || x.decision.NotKept != "" {
		return
	}
	r.index.recall(x.key, &x.decision)
}

// late takes in that a batch that was answered without the disk is on it.
func (r *ownRecorder) late(b *batch) {
	for i, x := range b.fresh {
		if b.errs[i] != nil {
			continue
		}
		x.decision.ID, x.decision.NotKept = x.entry.Record.ID, ""
		if _, known := r.shown.has(x.key); known {
			x.decision.Count = 0 // it is counted
		}
		now := r.shown.add(x.decision, x.key)
		r.index.note(x.key, &now)
	}
	if b.err() == nil {
		r.fault("")
	}
}

func (r *ownRecorder) answered(all []*recording) {
	r.mu.Lock()
	was := r.waiting
	r.waiting -= len(all)
	freed := was >= maxUnrecorded && r.waiting < maxUnrecorded
	r.mu.Unlock()
	if freed {
		r.freed()
	}
}

// fault logs that the disk fails, or, with an empty text, takes records again; each
// once.
func (r *ownRecorder) fault(why string) {
	switch {
	case why != "" && r.broken == "":
		r.cfg.Logger.Error("decisions are not on record; they are made all the same, and shown until the agent ends", "tenant", r.tenant, "err", why)
	case why == "" && r.broken != "":
		r.cfg.Logger.Info("decisions are on record again", "tenant", r.tenant)
	}
	r.broken = why
}
