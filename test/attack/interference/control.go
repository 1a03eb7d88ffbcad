package main

import (
	"context"
	"math/bits"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// control measures how long a few microseconds of the process's own work take, while attacks run.
// It counts them as the stays are counted. No guest takes part in this work, so long times are
// caused by the machine: a virtual one may lose its processors for a while without notice.
type control struct {
	rows    [64]int
	longest time.Duration
}

const (
	// controlTurns is about 20 µs of work.
	controlTurns  = 40_000
	controlPeriod = 500 * time.Microsecond
)

// run works until ctx ends.
func (c *control) run(ctx context.Context) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []time.Duration
	x := uint64(1)
	for ctx.Err() == nil {
		begun := threadTime()
		for range controlTurns {
			x = x*6364136223846793005 + 1442695040888963407
		}
		took = append(took, threadTime()-begun)
		time.Sleep(controlPeriod)
	}
	runtime.KeepAlive(x)
	for _, d := range took {
		c.rows[bits.Len64(uint64(max(d, 0)))]++
	}
	c.longest = slices.Max(append(took, c.longest))
}

// threadTime returns the processor time of this thread.
func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // it exists on every Linux
	return time.Duration(t.Nano())
}
