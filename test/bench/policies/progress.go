package main

import (
	"errors"
	"runtime/metrics"
	"time"

	"golang.org/x/sys/unix"
)

// partTimes are the approximate durations of a part on two cores: once, and for each round. They
// are used to show the time that is left.
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

// progress computes how much of a run is done.
type progress struct{ rounds int }

// done returns the share of the work that is done after so many rounds of a part.
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

// processorTime returns the processor time that all threads of this process have used, in
// nanoseconds.
func processorTime() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) // it exists on every Linux
	return t.Nano()
}

// pace makes a goroutine act at a fixed rate.
type pace struct {
	due, every int64
	// awake: it polls the clock instead of sleeping.
	awake bool
}

func newPace(every time.Duration, awake bool) *pace {
	return &pace{monotonic(), int64(every), awake}
}

// monotonic returns the time in nanoseconds since some instant.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // it exists on every Linux
	return t.Nano()
}

// wait returns at the next time that is due.
func (p *pace) wait() error {
	p.due += p.every
	if p.awake {
		for monotonic() < p.due {
		}
		return nil
	}
	until := unix.NsecToTimespec(p.due)
	for {
		err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// goroutinesMade returns how many goroutines this process has started so far.
func goroutinesMade() float64 {
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64())
}
