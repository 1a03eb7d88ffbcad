package fswatch

import "time"

// Settle decides when files that keep changing are read: once they have stood still for
// Time. Its user says when a look showed other files than the look before (Changed), and
// when a change was heard of or files were not steady (Unrest).
type Settle struct {
	// Time is how long files must have stood still.
	Time time.Duration
	// Restless is for how long they may keep changing before that is a fault.
	Restless time.Duration

	// since is when the last look first showed these files, restless since when they
	// have not stood still; zero for never and for still.
	since, restless time.Time
}

// Begun reports whether a look has been noted at all.
func (s *Settle) Begun() bool { return !s.since.IsZero() }

// Changed notes that a look at now showed other files than before.
func (s *Settle) Changed(now time.Time) { s.since = now }

// Still reports whether the files have stood still: since their last change by their own
// times, which another clock may have written, or since they were first seen like this.
func (s *Settle) Still(lastChange, now time.Time) bool {
	return now.Sub(lastChange) >= s.Time || now.Sub(s.since) >= s.Time
}

// Unrest notes that the files do not stand still, and reports whether that has lasted for
// longer than they may.
func (s *Settle) Unrest(now time.Time) (tooLong bool) {
	if s.restless.IsZero() {
		s.restless = now
	}
	return now.Sub(s.restless) >= s.Restless
}

// Pause notes that the files were not looked at for d: that time does not count as
// unrest.
func (s *Settle) Pause(d time.Duration) {
	if !s.restless.IsZero() {
		s.restless = s.restless.Add(d)
	}
}

// Rest notes that the files stand still and are read.
func (s *Settle) Rest() { s.restless = time.Time{} }
