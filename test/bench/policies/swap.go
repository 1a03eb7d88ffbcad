package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

const (
	// swaps is how often it is swapped in a round.
	swaps = 3
	// lull is how long decisions go on after the new set is in force: the old one
	// is closed then.
	lull = 300 * time.Millisecond
	// swapPatience is how long a swap may take.
	swapPatience = time.Minute
)

// swapped are the policies of the set that is swapped, of which ten are asked about
// each pod.
var swapped = []group{{policies: 10}, {policies: 40, match: otherLabels}}

// measureSwaps measures how long decisions wait while another set of policies
// comes into force, all with another module and other settings; and then as many
// while nothing does. Decisions come at 200 a second whether or not the one before is over.
func measureSwaps(ctx context.Context, r *run, _ []string) (_ series, err error) {
	p, err := r.newPlane(ctx, swapped...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := p.close(); err == nil {
			err = closed
		}
	}()
	if err := p.tell(ctx); err != nil {
		return nil, err
	}
	measured := series{}
	// The first swap finds out what a second set takes of memory. Each is to another
	// edition than any before, also in an earlier run: nothing is compiled yet.
	edition := uint64(time.Now().UnixNano())
	for i := range 1 + r.rounds*swaps {
		edition++
		during, err := p.stream(ctx, func() error { return p.directory.write(edition, swapped...) }, 0)
		if err != nil {
			return nil, err
		}
		quiet, err := p.stream(ctx, nil, len(during))
		if err != nil {
			return nil, err
		}
		if i == 0 {
			continue
		}
		longest, usual := slices.Max(during), slices.Max(quiet)
		measured.add("swap longest", longest)
		measured.add("swap quiet longest", usual)
		measured.add("swap wait", max(longest-usual, 0))
		measured.add("swap median", median(during))
		measured.add("swap quiet median", median(quiet))
		measured.add("swap decisions", float64(len(during)))
		if i%swaps == 0 {
			if err := r.told(measured); err != nil {
				return nil, err
			}
		}
	}
	return measured, nil
}

// timedVerdict is a verdict, and the nanoseconds until it came.
type timedVerdict struct {
	verdict api.Verdict
	took    float64
}

// stream has decisions made at a rate, from when start has returned until another set has
// come into force and the lull is over, and returns their times. With a nil start
// it makes so many.
func (p *plane) stream(ctx context.Context, start func() error, calls int) (times []float64, err error) {
	if start != nil {
		if err := start(); err != nil {
			return nil, err
		}
	}
	// It has room for all verdicts, so that no send waits.
	verdicts := make(chan timedVerdict, int(2*swapPatience/slow))
	asked := 0
	// Not a pace: a goroutine that sleeps in the system keeps its processor, with the
	// decision that it has just asked for, until Go takes it away 20 ms later.
	clock := time.NewTicker(slow)
	defer clock.Stop()
	end := time.Now().Add(swapPatience)
	changed := start == nil
	for (start == nil && asked < calls) || (start != nil && time.Now().Before(end)) {
		<-clock.C
		asked++
		began := time.Now()
		p.Judge(p.turn(), func(v api.Verdict) { verdicts <- timedVerdict{v, float64(time.Since(began))} })
		select {
		case <-p.Changed():
			changed, end = true, time.Now().Add(lull)
		case <-ctx.Done():
			return nil, ctx.Err()
		default:
		}
	}
	if !changed {
		return nil, fmt.Errorf("no other policies are in force after %s: %s", swapPatience, p.Sets()[0].Refused)
	}
	for range asked {
		select {
		case v := <-verdicts:
			if err := p.check(v.verdict); err != nil {
				return nil, err
			}
			times = append(times, v.took)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return times, nil
}
