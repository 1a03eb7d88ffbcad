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
	l.dirty, l.stored, l.stirred = map[string]bool{}, map[string]bool{}, make(chan struct{}, 1)
	for i := range all {
		l.stored[all[i].Instance] = true
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
	put, remove := l.take()
	if len(put)+len(remove) == 0 {
		return nil
	}
	err := disk.Apply(put, remove)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range put {
		if err == nil {
			l.stored[put[i].Instance] = true
		} else {
			l.untaken(put[i].Instance)
		}
	}
	for _, instance := range remove {
		if err == nil {
			delete(l.stored, instance)
		} else {
			l.untaken(instance)
		}
	}
	return err
}

// take gives what is to be written, as of now.
func (l *lasts) take() (put []state.LastOpinions, remove []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for instance := range l.dirty {
		e := l.known[instance]
		if e == nil {
			remove = append(remove, instance)
			continue
		}
		all, _ := e.Value.(*state.LastOpinions)
		one := *all
		one.Opinions = slices.Clone(all.Opinions)
		put = append(put, one)
		if _, known := l.stored[instance]; !known {
			l.stored[instance] = false // from now on the disk may have it
		}
	}
	clear(l.dirty)
	return put, remove
}

// untaken has an instance that the disk did not take written another time. One that
// is forgotten by now is only if the disk is sure to have it: else a disk that fails
// would leave more and more of them. What it has of others nevertheless is read at
// the next start, and goes in its turn.
func (l *lasts) untaken(instance string) {
	if l.known[instance] == nil && !l.stored[instance] {
		delete(l.stored, instance)
		delete(l.dirty, instance)
		return
	}
	l.dirty[instance] = true
}
