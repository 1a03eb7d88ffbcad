package mux

import "time"

// A source may have so many lines about its documents logged at once, and so many a
// second after that. "wardlet get sources" shows all of them in any case.
const (
	lineBurst      = 100
	linesPerSecond = 1
)

// lines is what is left of that. The zero value has all.
type lines struct {
	used float64
	at   time.Time
	// silent is true since it was said that lines are left out.
	silent bool
}

// take reports whether a line may be logged, and whether it is the first that may not.
func (l *lines) take(now time.Time) (ok, last bool) {
	l.used = max(0, l.used-max(0, now.Sub(l.at).Seconds())*linesPerSecond)
	l.at = now
	if l.used <= lineBurst/2 {
		l.silent = false
	}
	if !l.silent && l.used+1 <= lineBurst {
		l.used++
		return true, false
	}
	last = !l.silent
	l.silent = true
	return false, last
}

// mayTell reports whether a line about a document of a source may be logged.
func (t *merging) mayTell(of *sourceStore) bool {
	ok, last := of.lines.take(t.now)
	if last {
		t.log.Warn("further documents of the source are not logged, there are too many; \"wardlet get sources\" shows them",
			"source", of.Name)
	}
	return ok
}
