package fswatch

import "time"

// Settle decides when to read files that keep changing: once they have been unchanged for Time. The
// user calls Changed when a check finds other files than the last check, and Unrest after an event
// or if files changed during a read.
type Settle struct {
	// Time is the time for which files must be unchanged.
	Time time.Duration
	// Restless is the time after which files that keep changing are a fault.
	Restless time.Duration

	// since is the time when a check first found the current files, zero for never. restless is the
	// time since which the files keep changing, zero if they do not.
	since, restless time.Time
}

// Begun reports whether any check was recorded.
func (s *Settle) Begun() bool { return !s.since.IsZero() }

// Changed records that a check at now found other files than the last one.
func (s *Settle) Changed(now time.Time) { s.since = now }

// Still reports whether the files have been unchanged for Time. It counts from their last change by
// their own times, which another clock may have written, or from the first check that found them
// like this.
func (s *Settle) Still(lastChange, now time.Time) bool {
	return now.Sub(lastChange) >= s.Time || now.Sub(s.since) >= s.Time
}

// Unrest records that the files keep changing, and reports whether that has lasted for too long.
func (s *Settle) Unrest(now time.Time) (tooLong bool) {
	if s.restless.IsZero() {
		s.restless = now
	}
	return now.Sub(s.restless) >= s.Restless
}

// Pause records that there were no checks for d, so that this time is not counted as unrest.
func (s *Settle) Pause(d time.Duration) {
	if !s.restless.IsZero() {
		s.restless = s.restless.Add(d)
	}
}

// Rest records that the files are stable and are read.
func (s *Settle) Rest() { s.restless = time.Time{} }
