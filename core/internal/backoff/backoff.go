// Package backoff computes delays between attempts. Comes in: the limits and the number of failed
// attempts. Goes out: a delay. It owns no goroutine, reads no clock and adds no jitter; the caller
// may add it.
package backoff

import "time"

// Exponential doubles the delay with each attempt, from Min to Max. Min must be positive
// and at most Max.
type Exponential struct{ Min, Max time.Duration }

// Delay returns the delay after a failed attempt. failures is the number of failures before that
// attempt; Delay returns Min for 0.
func (e Exponential) Delay(failures int) time.Duration {
	delay := e.Min
	for ; failures > 0 && delay < e.Max; failures-- {
		delay = e.Next(delay)
	}
	return min(delay, e.Max)
}

// Next returns the delay that follows delay. It returns Min for 0.
func (e Exponential) Next(delay time.Duration) time.Duration {
	if delay > e.Max/2 {
		return e.Max
	}
	return max(2*delay, e.Min)
}
