package http

import (
	"context"
	"time"
)

// The steps between readings that fail: the first, and what the last is at
// least.
const (
	firstPause = time.Second
	leastLast  = 20 * time.Second
)

// pause is the time until the next reading.
func (s *Source) pause() time.Duration {
	if s.failures == 0 {
		return s.cfg.Period
	}
	longest := max(s.cfg.Period, leastLast)
	pause := firstPause
	for n := 1; n < s.failures && pause < longest; n++ {
		pause *= 2
	}
	// Jitter adds up to a half; the longest pause needs room for it.
	return min(s.cfg.Jitter(min(pause, longest/3*2)), longest)
}

// wait returns after d, or when ctx is done.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
