package pleg

import "time"

// maxAge is how long an event may have been on its way for its lag to be measured.
const maxAge = time.Minute

// happened is when a change was of which the runtime says that it was at at, and
// which was received after events had been followed for some time. The runtime has
// the wall clock, which may be set at any time; the answer carries the monotonic
// reading of received, and is not later. It is zero, for no lag to be measured,
// where that is not known, where it is more than a minute before received, and
// where it is before events were followed: the runtime kept that one for whoever
// asks first.
func happened(at, received time.Time, followed time.Duration) time.Time {
	age := max(0, received.Round(0).Sub(at))
	if at.IsZero() || age > min(followed, maxAge) {
		return time.Time{}
	}
	return received.Add(-age)
}
