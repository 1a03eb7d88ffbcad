package main

import (
	"errors"
	"runtime/metrics"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what all threads of this process have used of the
// processors, in nanoseconds.
func processorTime() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) // it exists on every Linux
	return t.Nano()
}

// pace lets a goroutine do something at a fixed rate.
type pace struct {
	due, every int64
}

func newPace(every time.Duration) (*pace, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return nil, err
	}
	return &pace{now.Nano(), int64(every)}, nil
}

// wait sleeps until the next time is due.
func (p *pace) wait() error {
	p.due += p.every
	until := unix.NsecToTimespec(p.due)
	for {
		err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// goroutinesMade is how many goroutines this process has started so far.
func goroutinesMade() float64 {
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64())
}
