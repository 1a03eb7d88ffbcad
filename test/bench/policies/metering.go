package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/wardlet/wardlet/test/bench/policies/bare"
	"github.com/wardlet/wardlet/test/bench/policies/guest"
	"github.com/wardlet/wardlet/test/bench/policies/question"
)

// meterTurns is how often in a round each guest runs metered and unmetered.
const meterTurns = 6

// pair is a guest, metered and unmetered.
type pair struct {
	guest          guest.Guest
	plain, metered *bare.Guest
	calls          int
}

// measureMetering measures the time that metering adds to the guests' own code.
func measureMetering(ctx context.Context, r *run, _ []string) (_ series, err error) {
	code, err := bare.New(ctx, r.bareCache())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, code.Close(ctx)) }()
	var pairs []*pair
	for _, g := range guest.All() {
		p, err := r.pair(ctx, code, g)
		if err != nil {
			return nil, fmt.Errorf("guest %s: %w", g, err)
		}
		pairs = append(pairs, p)
	}
	calm, err := newSteady()
	if err != nil {
		return nil, err
	}
	measured := series{}
	clock := clockTime()
	for turn := range r.rounds * meterTurns {
		for _, p := range pairs {
			runtime.GC()
			if err := p.turn(calm, measured, turn, clock); err != nil {
				return nil, fmt.Errorf("guest %s: %w", p.guest, err)
			}
		}
		if (turn+1)%meterTurns == 0 {
			if err := r.told(measured.after("metering", calm)); err != nil {
				return nil, err
			}
		}
	}
	return measured.after("metering", calm), nil
}

// pair makes a metered and an unmetered instance of a guest.
func (r *run) pair(ctx context.Context, code *bare.Runtime, g guest.Guest) (*pair, error) {
	binary, err := g.Read(r.dir)
	if err != nil {
		return nil, err
	}
	asked, err := question.Pod()
	if err != nil {
		return nil, err
	}
	pod, err := bare.Encode(asked)
	if err != nil {
		return nil, err
	}
	rewritten, err := bare.Metered(binary)
	if err != nil {
		return nil, err
	}
	p := &pair{guest: g}
	for into, module := range map[**bare.Guest][]byte{&p.plain: binary, &p.metered: rewritten} {
		compiled, err := code.Compile(ctx, module)
		if err != nil {
			return nil, err
		}
		const page = 64 << 10
		if *into, err = compiled.Instantiate(ctx, pod, uint64(g.MemoryPages())*page); err != nil {
			return nil, err
		}
	}
	const tries = 20
	each := 0.0
	for range 2 { // the first calls find cold caches
		if each, err = judgements(p.plain, tries, 0); err != nil {
			return nil, err
		}
	}
	p.calls = int(min(max(2e6/each, 4), 1000))
	return p, nil
}

// turn measures both instances, in alternating order.
func (p *pair) turn(calm *steady, measured series, turn int, clock float64) error {
	times, both := [2]float64{}, true
	for i := range times {
		way := (turn + i) % 2
		ok, err := calm.measure(func() (err error) {
			times[way], err = judgements([2]*bare.Guest{p.plain, p.metered}[way], p.calls, clock)
			return err
		})
		if err != nil {
			return err
		}
		both = both && ok
	}
	measured.addIf(both, p.guest.String()+" plain", times[0])
	measured.addIf(both, p.guest.String()+" metered", times[1])
	return nil
}

// judgements returns the time of the guest's own code, in nanoseconds, without the time of reading
// the clock. It is the lower quartile of the calls, because other work on the machine makes calls
// longer and never shorter.
func judgements(g *bare.Guest, calls int, clock float64) (float64, error) {
	times := make([]float64, 0, calls)
	for range calls {
		if err := g.Hand(); err != nil {
			return 0, err
		}
		start := time.Now()
		answer, err := g.Judge()
		took := time.Since(start)
		if err != nil || answer != 0 {
			return 0, fmt.Errorf("the pod is not allowed: %d, %w", answer, err)
		}
		times = append(times, float64(took)-clock)
		if err := g.Reset(); err != nil {
			return 0, err
		}
	}
	return percentile(times, 25), nil
}

// clockTime returns the time that reading the clock adds to a measurement, in nanoseconds.
func clockTime() float64 {
	const reads = 10_000
	times := make([]float64, 0, reads)
	for range reads {
		start := time.Now()
		times = append(times, float64(time.Since(start)))
	}
	return median(times)
}
