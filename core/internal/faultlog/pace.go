// Package faultlog keeps faults that stay from filling the log: each is logged when
// it begins, then at most once a minute, and once when it is over.
//
// Comes in: what goes wrong, at every try. Goes out: whether that is to be logged. It
// logs nothing itself. The package owns no goroutine, and what it has is its owner's:
// it is not safe for concurrent use.
package faultlog

import "time"

// period is how long the same fault is not logged again.
const period = time.Minute

// Pace is of one thing that is tried again and again. The zero value is of one that
// works.
type Pace struct {
	// logged is when each fault was logged last, in a minute.
	logged map[fault]time.Time
	failed bool
}

// fault identifies a fault: by what it is about, and a text.
type fault struct{ about, text string }

// Due reports whether a fault is to be logged at now. about tells faults apart that
// have one text. What is another at every try tells nothing apart: IDs, addresses,
// numbers, times and durations.
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

// Over says that a try went well, and reports whether the one before did not. What
// comes next is a new fault.
func (p *Pace) Over() bool {
	failed := p.failed
	*p = Pace{}
	return failed
}
