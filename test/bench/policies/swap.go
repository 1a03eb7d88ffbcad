package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

const (
	// swaps is the number of swaps per round.
	swaps = 3
	// lull is how long decisions continue after the new set is in force, because the old set is
	// closed then.
	lull = 300 * time.Millisecond
	// swapPatience is how long a swap may take.
	swapPatience = time.Minute
)

// swapped are the policies of the swapped set; ten of them are asked about each pod.
var swapped = []group{{policies: 10}, {policies: 40, match: otherLabels}}

// measureSwaps measures how long decisions take while another set of policies comes into force,
// with other modules and settings; and then how long as many decisions take without a swap.
// Decisions are requested 200 times a second, without waiting for earlier ones.
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
	// The first swap is not measured: it allocates the memory that a second set needs. Each swap is
	// to a new edition, also new since earlier runs, so that nothing is compiled yet.
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

// timedVerdict is a verdict, and the nanoseconds until it arrived.
type timedVerdict struct {
	verdict api.Verdict
	took    float64
}

// stream requests decisions at a rate and returns their times. It begins when start has returned,
// and ends when another set has come into force and the lull has passed. With a nil start it
// requests calls decisions.
func (p *plane) stream(ctx context.Context, start func() error, calls int) (times []float64, err error) {
	if start != nil {
		if err := start(); err != nil {
			return nil, err
		}
	}
	// The channel has room for all verdicts, so that no send blocks.
	verdicts := make(chan timedVerdict, int(2*swapPatience/slow))
	asked := 0
	// This is not a pace: a goroutine that sleeps in a system call keeps its processor, with the
	// decision that it has just requested, until Go takes the processor away 20 ms later.
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
