package http

import (
	"context"
	"fmt"
	"log/slog"
)

// loud is the number of equal problems that are logged as warnings.
const loud = 3

// throttle counts the consecutive readings with a problem.
type throttle struct {
	// all is their number since the problem began, told their number since the problem last
	// changed.
	all, told int
}

// next counts one more reading and returns the level at which to log it. last is true for the last
// warning.
func (t *throttle) next() (level slog.Level, last bool) {
	t.all++
	t.told++
	if t.told > loud {
		return slog.LevelDebug, false
	}
	return slog.LevelWarn, t.told == loud
}

// news makes the next readings warnings again.
func (t *throttle) news() { t.told = 0 }

// end returns the number of readings with the problem, and resets the throttle.
func (t *throttle) end() int {
	n := t.all
	*t = throttle{}
	return n
}

// fail reports a reading without an answer, unless ctx is done.
func (s *Source) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	s.failures++
	s.cfg.Sink.Health(err)
	level, last := s.late.next()
	s.cfg.Logger.Log(ctx, level, "reading failed; what was read last stays in force", "err", err)
	if last {
		s.cfg.Logger.Warn("further failures are logged at level debug until a reading succeeds")
	}
}

// unseen returns the reason why the source has not been seen although the server answers; nil after
// an answer had all of its pods.
func (s *Source) unseen() error {
	if s.whole {
		return nil
	}
	return fmt.Errorf("%s answers, but which pods there are is not known before a document of it can be used; mend those it has", s.cfg.URL)
}

// succeed reports a reading with an answer, and its bad documents.
func (s *Source) succeed(ctx context.Context) {
	s.failures = 0
	s.cfg.Sink.Health(s.unseen())
	if n := s.late.end(); n > 0 {
		s.cfg.Logger.Info("readings succeed again", "failed", n)
	}
	f := s.delivered.faults
	if f.count == 0 {
		if n := s.bad.end(); n > 0 {
			s.cfg.Logger.Info("all documents are valid again", "readings", n)
		}
		return
	}
	level, last := s.bad.next()
	s.cfg.Logger.Log(ctx, level, "documents are bad; their last valid versions stay in force", "count", f.count, "err", f.first)
	if last {
		s.cfg.Logger.Warn("the same bad documents are logged at level debug from now on")
	}
}
