// Package backoff computes how long to wait before another attempt. Comes in: the bounds
// and how many attempts have failed. Goes out: a delay. It owns no goroutine, reads no
// clock and adds no jitter: those are the caller's.
package backoff

import "time"

// Exponential doubles the delay with each attempt, from Min to Max. Min must be positive
// and at most Max.
type Exponential struct{ Min, Max time.Duration }

// Delay returns the delay after an attempt that failed, when failures attempts had
// failed before it: Min for none.
func (e Exponential) Delay(failures int) time.Duration {
	delay := e.Min
	for ; failures > 0 && delay < e.Max; failures-- {
		delay = e.Next(delay)
	}
	return min(delay, e.Max)
}

// Next returns the delay that follows delay; Min follows 0.
func (e Exponential) Next(delay time.Duration) time.Duration {
	if delay > e.Max/2 {
		return e.Max
	}
	return max(2*delay, e.Min)
}
