package wasm

import (
	"sync/atomic"
	"time"
)

const (
	// fuelPerMicrosecond is what time of the host's is worth: 0.5 ns a unit.
	fuelPerMicrosecond = 2000
	// That an instance must be made anew counts for no less than leastRebuild and for
	// no more than mostRebuild: a busy machine takes longer, and a clock may stand
	// still.
	leastRebuild = 100 * time.Microsecond
	mostRebuild  = 20 * time.Millisecond
)

// rebuilding is what it takes to make an instance of a plugin: the least that it took
// so far.
type rebuilding struct{ least atomic.Int64 }

// took records how long making one took.
func (r *rebuilding) took(d time.Duration) {
	for {
		least := r.least.Load()
		if least != 0 && least <= int64(d) || r.least.CompareAndSwap(least, int64(d)) {
			return
		}
	}
}

// fuel is what a call is charged whose instance is thrown away.
func (r *rebuilding) fuel() int64 {
	d := min(max(time.Duration(r.least.Load()), leastRebuild), mostRebuild)
	return d.Nanoseconds() * fuelPerMicrosecond / 1000
}
