package main

import "time"

// partTimes are about how long a part takes on two cores: once, and for each
// round. They are for showing what is left.
var partTimes = []struct {
	part        string
	once, round time.Duration
}{
	{"decide", 5 * time.Second, 10 * time.Second},
	{"metering", 2 * time.Second, 8 * time.Second},
	{"planes", 15 * time.Second, 40 * time.Second},
	{"swap", 12 * time.Second, 36 * time.Second},
	{"ready", 5 * time.Second, time.Second},
	{"resident", 30 * time.Second, 10 * time.Second},
}

// progress knows how much of a run is done.
type progress struct{ rounds int }

// done is the share of the work that is done after so many rounds of a part.
func (p progress) done(part string, rounds int) float64 {
	var over, all time.Duration
	before := true
	for _, t := range partTimes {
		all += t.once + time.Duration(p.rounds)*t.round
		switch {
		case t.part == part:
			before = false
			over += t.once + time.Duration(rounds)*t.round
		case before:
			over += t.once + time.Duration(p.rounds)*t.round
		}
	}
	return float64(over) / float64(all)
}
