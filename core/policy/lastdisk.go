package policy

import (
	"context"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/state"
)

const (
	// lastsBatch is how long verdicts are gathered before they are written, so that
	// the disk is written to at most once in that time; a crash loses no more.
	lastsBatch = time.Second
	// lastsRetry is when what could not be written is tried again.
	lastsRetry = 10 * time.Second
)

// Opinions keeps what policies with on_error = "last_verdict" said, over a
// restart; state.Opinions does.
type Opinions interface {
	// Load gives all records, the oldest first.
	Load() ([]state.LastOpinions, []error)
	// Apply stores records in place of those of the same instances, and removes
	// those of others.
	Apply(put []state.LastOpinions, remove []string) error
}

// load takes in what an earlier process kept, and has what comes written.
func (l *lasts) load(disk Opinions) []error {
	all, errs := disk.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirty, l.stirred = map[string]bool{}, make(chan struct{}, 1)
	for i := range all {
		if l.known[all[i].Instance] == nil {
			l.begin(&all[i])
		}
	}
	l.shrink()
	return errs
}

// keepLasts brings the disk to what is known until ctx ends, and once more then.
func (p *Plane) keepLasts(ctx context.Context) {
	wait := time.NewTimer(0)
	<-wait.C
	defer wait.Stop()
	said := false
	for {
		select {
		case <-ctx.Done():
		case <-p.lasts.stirred:
			wait.Reset(lastsBatch)
			select {
			case <-ctx.Done():
			case <-wait.C:
			}
		}
		err := p.lasts.flush(p.cfg.Opinions)
		if err != nil && !said {
			p.cfg.Logger.Error("what policies said last is not kept over a restart", "err", err, "again", lastsRetry)
		}
		said = err != nil
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			continue
		}
		wait.Reset(lastsRetry)
		select {
		case <-ctx.Done():
		case <-wait.C:
			p.lasts.again()
		}
	}
}

// again has what is still to be written looked at.
func (l *lasts) again() {
	select {
	case l.stirred <- struct{}{}:
	default:
	}
}

// flush writes what the disk has otherwise. What fails is left for another time.
func (l *lasts) flush(disk Opinions) error {
	var put []state.LastOpinions
	var remove []string
	l.mu.Lock()
	dirty := l.dirty
	l.dirty = map[string]bool{}
	for instance := range dirty {
		if e := l.known[instance]; e != nil {
			all, _ := e.Value.(*state.LastOpinions)
			one := *all
			one.Opinions = slices.Clone(all.Opinions)
			put = append(put, one)
		} else {
			remove = append(remove, instance)
		}
	}
	l.mu.Unlock()
	if len(dirty) == 0 {
		return nil
	}
	err := disk.Apply(put, remove)
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		for instance := range dirty {
			l.dirty[instance] = true
		}
	}
	return err
}
