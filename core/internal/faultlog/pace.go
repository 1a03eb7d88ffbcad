// Package faultlog prevents persistent faults from filling the log. Each fault is logged when it
// begins, then at most once a minute, and once when it ends.
//
// Comes in: the fault of each attempt. Goes out: whether to log it. The package itself logs nothing
// and owns no goroutine. It is not safe for concurrent use.
package faultlog

import "time"

// period is the time for which the same fault is not logged again.
const period = time.Minute

// Pace is the state of one repeated task. The zero value is for a task without a fault.
type Pace struct {
	// logged has the times at which faults were logged in the last minute.
	logged map[fault]time.Time
	failed bool
}

// fault identifies a fault by its subject and a text.
type fault struct{ about, text string }

// Due reports whether to log a fault at now. about distinguishes faults with equal texts. Parts
// that differ for each attempt are ignored: IDs, addresses, numbers, times and durations.
func (p *Pace) Due(about, text string, now time.Time) bool {
	p.failed = true
	for f, at := range p.logged {
		if now.Sub(at) >= period {
			delete(p.logged, f)
		}
	}
	f := fault{about, constant(text)}
	if _, known := p.logged[f]; known {
		return false
	}
	if p.logged == nil {
		p.logged = map[fault]time.Time{}
	}
	p.logged[f] = now
	return true
}

// Over records a successful attempt, and reports whether the attempt before failed. The next fault
// is a new one.
func (p *Pace) Over() bool {
	failed := p.failed
	*p = Pace{}
	return failed
}
