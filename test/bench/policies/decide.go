package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/wardlet/wardlet/test/bench/policies/guest"
	"github.com/wardlet/wardlet/test/bench/policies/question"
)

// How much a round measures.
const (
	turns = 4 // of all sides, back to back
	// batch is about how long a side is asked in a turn, twice.
	batch = 2 * time.Millisecond
	// paced is how many decisions are made at a fixed rate, one per interval.
	paced      = 600
	pacedEmpty = 200
	interval   = time.Millisecond
	// mostPaced limits the attempts at a rate to this multiple; then disturbed decisions count.
	mostPaced = 4
)

// side is an engine that decides.
type side struct {
	name string
	// decide runs until the verdict; settle, which may be nil, runs after the verdict.
	decide func(ctx context.Context) error
	settle func(ctx context.Context)
	// calls is how often the side is asked in a turn.
	calls int
	// every is the interval between decisions at a fixed rate, zero for the constant interval.
	// paced is how many decisions a round has, zero for the constant paced.
	every time.Duration
	paced int
}

// measureDecisions measures decisions of the agent's guests and of rivals, in turn.
func measureDecisions(ctx context.Context, r *run, _ []string) (_ series, err error) {
	a, err := r.agent(ctx, guest.Guest{Language: guest.Go, Form: guest.Projection}, guest.Guest{Language: guest.C, Form: guest.Projection})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.close()) }()
	others, stop, err := rivalSides(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	names := []string{guest.Go, guest.C}
	sides := others
	for i, l := range a.guests {
		sides = append(sides, side{name: names[i], decide: l.admit, settle: l.plugin.Reset})
	}
	for i := range sides {
		if err := sides[i].size(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", sides[i].name, err)
		}
	}
	calm, err := newSteady()
	if err != nil {
		return nil, err
	}
	measured := series{}
	for range r.rounds {
		for range turns {
			for i := range sides {
				s := &sides[i]
				if err := errors.Join(s.turn(ctx, calm, measured), s.verdicts(ctx, calm, measured)); err != nil {
					return nil, fmt.Errorf("%s: %w", s.name, err)
				}
			}
		}
		// Only our sides, and native Go to show the time that any thread needs after it has slept.
		for i := range sides {
			s := &sides[i]
			if s.name != guest.Go && s.name != guest.C && s.name != native {
				continue
			}
			for _, awake := range []bool{true, false} {
				if err := s.atRate(ctx, calm, measured, awake); err != nil {
					return nil, fmt.Errorf("%s: %w", s.name, err)
				}
			}
		}
		if err := r.told(measured.after("decisions", calm)); err != nil {
			return nil, err
		}
	}
	return measured.after("decisions", calm), nil
}

// agent loads guests into one engine; each evaluates the same pod.
func (r *run) agent(ctx context.Context, guests ...guest.Guest) (_ *agent, err error) {
	a := &agent{}
	if a.engine, err = r.newEngine(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close())
		}
	}()
	for _, g := range guests {
		binary, err := g.Read(r.dir)
		if err != nil {
			return nil, err
		}
		p, err := question.Pod()
		if err != nil {
			return nil, err
		}
		plugin, err := load(ctx, a.engine, g, binary)
		if err != nil {
			return nil, fmt.Errorf("guest %s: %w", g, err)
		}
		a.guests = append(a.guests, &loaded{plugin, question.Request(p)})
	}
	return a, nil
}

// both makes a whole decision.
func (s *side) both(ctx context.Context) error {
	err := s.decide(ctx)
	s.after(ctx)
	return err
}

func (s *side) after(ctx context.Context) {
	if s.settle != nil {
		s.settle(ctx)
	}
}

// size measures how often a side can be asked in a turn.
func (s *side) size(ctx context.Context) error {
	const tries = 100
	each := time.Duration(0)
	for range 2 { // the first calls find cold caches
		start := time.Now()
		for range tries {
			if err := s.both(ctx); err != nil {
				return err
			}
		}
		each = time.Since(start) / tries
	}
	s.calls = int(max(batch/max(each, 1), 20))
	return nil
}

// turn measures processor time, allocations and goroutines of decisions back to back.
func (s *side) turn(ctx context.Context, calm *steady, measured series) error {
	runtime.GC()
	var (
		before, after runtime.MemStats
		used          int64
		made          float64
	)
	ok, err := calm.measure(func() error {
		made = goroutinesMade()
		runtime.ReadMemStats(&before)
		start := processorTime()
		for range s.calls {
			if err := s.both(ctx); err != nil {
				return err
			}
		}
		used = processorTime() - start
		runtime.ReadMemStats(&after)
		made = goroutinesMade() - made
		return nil
	})
	measured.addIf(ok, s.name+" cpu", float64(used)/float64(s.calls))
	measured.add(s.name+" allocations", float64(after.Mallocs-before.Mallocs)/float64(s.calls))
	measured.add(s.name+" goroutines", made/float64(s.calls))
	return err
}

// verdicts measures the time until the verdict, back to back.
func (s *side) verdicts(ctx context.Context, calm *steady, measured series) error {
	runtime.GC()
	times := make([]float64, 0, s.calls)
	ok, err := calm.measure(func() error {
		times = times[:0]
		for range s.calls {
			start := time.Now()
			if err := s.decide(ctx); err != nil {
				return err
			}
			times = append(times, float64(time.Since(start)))
			s.after(ctx)
		}
		return nil
	})
	measured.addIf(ok, s.name+" verdict", median(times))
	measured.addIf(ok, s.name+" verdict p99", percentile(times, 99))
	return err
}

// atRate measures both at a fixed rate, with a thread that sleeps in between or stays awake.
func (s *side) atRate(ctx context.Context, calm *steady, measured series, awake bool) error {
	runtime.GC()
	empty := side{decide: func(context.Context) error { return nil }, every: s.every}
	nothing, _, err := empty.timed(ctx, calm, pacedEmpty, awake)
	if err != nil {
		return err
	}
	used, times, err := s.timed(ctx, calm, cmp.Or(s.paced, paced), awake)
	if err != nil {
		return err
	}
	how := "paced"
	if awake {
		how = "awake"
	}
	measured.add(s.name+" cpu "+how, mean(used)-mean(nothing))
	measured.add(s.name+" verdict "+how, median(times))
	measured.add(s.name+" verdict "+how+" p99", percentile(times, 99))
	return nil
}

// timed returns, for a number of decisions, the processor time of each with its settling, and the
// time until the verdict, both in nanoseconds. Disturbed decisions do not count, unless there are
// too many.
func (s *side) timed(ctx context.Context, calm *steady, calls int, awake bool) (used, times []float64, err error) {
	used, times = make([]float64, 0, calls), make([]float64, 0, calls)
	p := newPace(cmp.Or(s.every, interval), awake)
	for tries := 0; len(times) < calls; tries++ {
		if err := p.wait(); err != nil {
			return nil, nil, err
		}
		processor := processorTime()
		start := time.Now()
		if err := s.decide(ctx); err != nil {
			return nil, nil, err
		}
		verdict := time.Since(start)
		s.after(ctx)
		took := processorTime() - processor
		if calm.undisturbed() || tries >= calls*mostPaced {
			used = append(used, float64(took))
			times = append(times, float64(verdict))
		}
	}
	return used, times, nil
}
