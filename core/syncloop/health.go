package syncloop

import (
	"context"
	"fmt"
	"time"

	"github.com/wardlet/wardlet/core/internal/faultlog"
)

const (
	// startGrace is how long after its start the loop waits for the runtime
	// without a warning: no runtime has been asked and listed at once.
	startGrace     = 10 * time.Second
	minHealthDelay = 100 * time.Millisecond
	// maxHealthDelay is the most between two looks at the checks, which ask
	// nobody: they know.
	maxHealthDelay = time.Second
	// maxStep is how old the last step may be before the loop counts as stuck.
	maxStep = 5 * time.Minute
)

// awaitHealth returns when all checks pass, or with ctx's error. Until then
// nothing is taken in, so that nothing is done on a wrong picture and nothing
// is lost: those who have news wait.
func (l *Loop) awaitHealth(ctx context.Context) error {
	var starting faultlog.Pace
	quietUntil := time.Time{}
	if l.stepped.Load() == nil {
		quietUntil = l.cfg.Now().Add(startGrace)
	}
	for delay := minHealthDelay; ; delay = min(2*delay, maxHealthDelay) {
		err := l.check()
		if err == nil {
			if l.unhealthy.Over() {
				l.cfg.Log.Info("pods are synced again")
			}
			return nil
		}
		switch now := l.cfg.Now(); {
		case now.Before(quietUntil):
			if starting.Due("", err.Error(), now) {
				l.cfg.Log.Info("waiting for the runtime", "err", err)
			}
		case l.unhealthy.Due("", err.Error(), now):
			l.cfg.Log.Warn("pods are not synced until the runtime works", "err", err)
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *Loop) check() error {
	for _, healthy := range l.cfg.Health {
		if err := healthy(); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) stamp() { l.stepped.Store(new(l.cfg.Now())) }

// Healthy fails when the loop has not finished a step for 5 minutes. A loop
// that has not begun is healthy.
func (l *Loop) Healthy() error {
	stepped := l.stepped.Load()
	if stepped == nil {
		return nil
	}
	if age := l.cfg.Now().Sub(*stepped); age > maxStep {
		return fmt.Errorf("the sync loop has not moved for %s, at most %s is expected", age.Round(time.Second), maxStep)
	}
	return nil
}
