package main

import (
	"fmt"
	"io"
	"time"
)

// schedule estimates how long the benches of a run take, and shows what is done and what is left.
// The estimates are for two cores; after half a minute of measuring, the schedule uses the pace of
// this machine.
type schedule struct {
	out     io.Writer
	now     func() time.Time
	benches []planned
	// began is when the first bench started to measure.
	began time.Time
}

// planned is one bench of a schedule.
type planned struct {
	name, what string
	expected   time.Duration
	// done is the share of the bench that has been measured, from 0 to 1.
	done float64
}

// enoughForAPace is how much expected time must have passed before the rest is estimated by the
// pace of this machine.
const enoughForAPace = 30 * time.Second

// plan prints what the run will measure and how long that takes.
func (s *schedule) plan() {
	fmt.Fprintf(s.out, "bench: what will be measured, and how long that takes on two cores:\n")
	for i := range s.benches {
		b := &s.benches[i]
		fmt.Fprintf(s.out, "  %-10s %7s  %s\n", b.name, inMinutes(b.expected), b.what)
	}
	fmt.Fprintf(s.out, "  %-10s %7s  before that programs are built: up to 15 min the first time, seconds later\n", "together", inMinutes(s.left()))
}

// begin starts the clock; building is not part of the estimate.
func (s *schedule) begin() { s.began = s.now() }

// step records which share of a bench is done, and prints what is left.
func (s *schedule) step(bench int, done float64) {
	b := &s.benches[bench]
	b.done = min(max(done, b.done), 1)
	fmt.Fprintf(s.out, "bench: %d of %d, %s, %d %% done; about %s left in all\n",
		bench+1, len(s.benches), b.name, int(b.done*100), inMinutes(s.left()))
}

// leave removes a failed bench from what is left.
func (s *schedule) leave(bench int) { s.benches[bench].done = 1 }

// left returns how long the rest will take.
func (s *schedule) left() time.Duration {
	var over, rest time.Duration
	for i := range s.benches {
		b := &s.benches[i]
		part := time.Duration(b.done * float64(b.expected))
		over, rest = over+part, rest+b.expected-part
	}
	if over < enoughForAPace || s.began.IsZero() {
		return rest
	}
	return time.Duration(float64(rest) * float64(s.now().Sub(s.began)) / float64(over))
}

// inMinutes formats a time for the reader of a plan.
func inMinutes(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}
