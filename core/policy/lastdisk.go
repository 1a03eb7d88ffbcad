package policy

import (
	"context"
	"log/slog"
	"time"

	"github.com/wardlet/wardlet/core/internal/writeback"
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

// load takes in what an earlier process kept, and has what comes written, by kept.Run.
// Many instances come and go, so a disk that fails is left with what it may have: the
// next start reads that, and forgets it in its turn.
func (l *lasts) load(disk Opinions, log *slog.Logger) {
	all, errs := disk.Load()
	for _, err := range errs {
		log.Error("what policies said last cannot be read", "err", err)
	}
	said := false
	report := func(_ string, err error) {
		if err != nil && !said {
			log.Error("what policies said last is not kept over a restart", "err", err, "again", lastsRetry)
		}
		said = err != nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = writeback.New(disk, writeback.Options[string]{Delay: lastsBatch, Retry: lastsRetry, Report: report, Forgetful: true})
	for i := range all {
		l.kept.Loaded(all[i].Instance, all[i])
		if l.known[all[i].Instance] == nil {
			one := all[i]
			l.begin(&one)
		}
	}
	l.shrink()
}

// run writes the verdicts to the disk until ctx ends. load must have returned.
func (l *lasts) run(ctx context.Context) { _ = l.kept.Run(ctx) }
