package wasm

import (
	"sync/atomic"
	"time"
)

const (
	// fuelPerMicrosecond is the fuel for a microsecond of the host's time: 0.5 ns a
	// unit.
	fuelPerMicrosecond = 2000
	// Replacing an instance is charged at least leastRebuild, because a clock may
	// stand still, and at most mostRebuild, because a busy machine takes longer.
	leastRebuild = 100 * time.Microsecond
	mostRebuild  = 20 * time.Millisecond
)

// rebuilding is the shortest time that making an instance of a plugin took so far.
type rebuilding struct{ least atomic.Int64 }

// took records how long making an instance took.
func (r *rebuilding) took(d time.Duration) {
	for {
		least := r.least.Load()
		if least != 0 && least <= int64(d) || r.least.CompareAndSwap(least, int64(d)) {
			return
		}
	}
}

// fuel returns what a call is charged if its instance is thrown away.
func (r *rebuilding) fuel() int64 {
	d := min(max(time.Duration(r.least.Load()), leastRebuild), mostRebuild)
	return d.Nanoseconds() * fuelPerMicrosecond / 1000
}
