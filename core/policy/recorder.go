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

// recorder puts decisions on record, many at a time, and has them answered then.
// Where the disk fails or hangs, they are answered all the same and only shown.
type recorder struct {
	cfg   *Config
	shown *decisions
	// freed is called when an owner that was behind is not any more.
	freed func()

	mu      sync.Mutex
	pending []*recording
	// waiting counts those by owner that are not answered.
	waiting map[string]int
	closed  bool
	// wake has a value when something is pending; it is never closed.
	wake chan struct{}

	// The rest belongs to the goroutine of run.
	broken string
	// counts are the decisions that were repeated since that was written.
	counts  map[string]map[string]state.DecisionCount
	counted time.Time
}

func newRecorder(c *Config, shown *decisions, freed func()) *recorder {
	return &recorder{
		cfg: c, shown: shown, freed: freed, waiting: map[string]int{}, wake: make(chan struct{}, 1),
		counts: map[string]map[string]state.DecisionCount{},
	}
}

// put takes a decision. It does not wait for the disk.
func (r *recorder) put(x *recording) {
	if r.cfg.Records == nil {
		r.shown.add(x.decision, keyOf(&x.decision))
		x.answer()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	r.waiting[x.decision.Tenant]++
	r.pending = append(r.pending, x)
	select {
	case r.wake <- struct{}{}:
	default: // it will be taken with what woke it
	}
}

// behind reports whether too many decisions about an owner's pods wait for the
// disk.
func (r *recorder) behind(tenant string) bool {
	if r.cfg.Records == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting[tenant] >= maxUnrecorded
}

// run records until ctx ends, and then what is left. It must be called once, if
// there are Records.
func (r *recorder) run(ctx context.Context) {
	r.restore()
	r.counted = r.cfg.Now()
	work, done := make(chan *batch), make(chan *batch, 1)
	var writing sync.WaitGroup
	writing.Go(func() {
		for b := range work {
			b.write(r.cfg.Records)
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
func (r *recorder) take(last bool) *batch {
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
func (r *recorder) record(b *batch, work chan<- *batch, done <-chan *batch) {
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
func (r *recorder) sort(b *batch) {
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
		}
		first[x.key] = x
		b.fresh = append(b.fresh, x)
	}
}

// finish shows and answers a batch. unwritten says why nothing of it is on the
// disk, empty where it has been written.
func (r *recorder) finish(b *batch, unwritten string) {
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
		if now := r.shown.add(x.decision, x.key); now.Count > 1 && now.ID != "" {
			r.repeated(&now)
		}
		x.answer()
	}
	r.answered(b.all)
}

// late takes in that a batch that was answered without the disk is on it.
func (r *recorder) late(b *batch) {
	for i, x := range b.fresh {
		if b.errs[i] != nil {
			continue
		}
		x.decision.ID, x.decision.NotKept = x.entry.Record.ID, ""
		if _, known := r.shown.has(x.key); known {
			x.decision.Count = 0 // it is counted
		}
		r.shown.add(x.decision, x.key)
	}
	if b.err() == nil {
		r.fault("")
	}
}

func (r *recorder) answered(all []*recording) {
	freed := false
	r.mu.Lock()
	for _, x := range all {
		tenant := x.decision.Tenant
		freed = freed || r.waiting[tenant] == maxUnrecorded
		if r.waiting[tenant]--; r.waiting[tenant] <= 0 {
			delete(r.waiting, tenant)
		}
	}
	r.mu.Unlock()
	if freed {
		r.freed()
	}
}

// fault logs that the disk fails, or, with an empty text, takes records again; each
// once.
func (r *recorder) fault(why string) {
	switch {
	case why != "" && r.broken == "":
		r.cfg.Logger.Error("decisions are not on record; they are made all the same, and shown until the agent ends", "err", why)
	case why == "" && r.broken != "":
		r.cfg.Logger.Info("decisions are on record again")
	}
	r.broken = why
}

// restore shows what an agent before had on record.
func (r *recorder) restore() {
	records, err := r.cfg.Records.Newest(maxDecisions)
	if err != nil {
		r.cfg.Logger.Error("some decisions on record cannot be read", "err", err)
	}
	for i := range records {
		d := &records[i]
		r.shown.add(d.Decision, keyOf(&d.Decision, inputsOf(d)...))
	}
}
