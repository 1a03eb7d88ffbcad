package pleg

import "time"

// Observer is told how a generator fares, for metrics. Its methods are called
// one at a time, by Run, and return at once.
type Observer interface {
	// Relisted says that a full list has ended, well or not, and how long it
	// took, the inspections that follow from it left out.
	Relisted(took time.Duration)
	// Interval is the time between the beginnings of a full list and of the
	// last good one before it.
	Interval(d time.Duration)
	// Inspected says that an inspection of a pod has ended, well or not, and
	// how long it took, from when it was asked for.
	Inspected(took time.Duration)
	// StreamUp says whether the runtime's events are relied on from now on. It
	// is called when that changes; at first they are not.
	StreamUp(up bool)
	// Dropped says how many events did not fit into the channel.
	Dropped(n int)
	// Lag is the time from an event of the runtime until what it tells of was in
	// the cache and delivered. It is never negative. An event that seems to have
	// been on its way for more than a minute is left out: the clock was set.
	Lag(d time.Duration)
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Relisted(time.Duration)  {}
func (nobody) Interval(time.Duration)  {}
func (nobody) Inspected(time.Duration) {}
func (nobody) StreamUp(bool)           {}
func (nobody) Dropped(int)             {}
func (nobody) Lag(time.Duration)       {}
