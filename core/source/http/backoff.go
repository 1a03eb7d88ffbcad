package http

import (
	"context"
	"time"

	"github.com/wardlet/wardlet/core/internal/backoff"
)

// The pauses after failed readings: firstPause is the first pause, leastLast the lower limit of the
// longest pause.
const (
	firstPause = time.Second
	leastLast  = 20 * time.Second
)

// pause returns the time until the next reading.
func (s *Source) pause() time.Duration {
	if s.failures == 0 {
		return s.cfg.Period
	}
	longest := max(s.cfg.Period, leastLast)
	// Jitter adds up to half of the delay. The longest pause leaves room for it.
	delays := backoff.Exponential{Min: firstPause, Max: longest / 3 * 2}
	return min(s.cfg.Jitter(delays.Delay(s.failures-1)), longest)
}

// wait blocks for d, or until ctx is done.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
