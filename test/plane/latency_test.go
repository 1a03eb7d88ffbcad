package plane

import (
	"context"
	"flag"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	// questions is how many questions are asked in a round.
	questions = 500
	// questionPeriod is the time between two questions.
	questionPeriod = 4 * time.Millisecond
	// rounds is how many rounds of each kind there are. If they exceed the limit, because the
	// machine is busy, they are repeated, triesOfRounds times at most.
	rounds        = 5
	triesOfRounds = 3
	// maxLatency is the largest allowed ratio of the p99 under attack to the p99 in quiet.
	maxLatency = 2.0
)

// timed turns the measurements on: make bench-isolation sets it.
var timed = flag.Bool("timed", false, "measure times, on a machine that has nothing else to do")

// TestIsolationInTime measures how long a tenant waits for verdicts while no other
// tenant asks, and while another tenant attacks.
func TestIsolationInTime(t *testing.T) {
	if !*timed {
		t.Skip("a measurement: make bench-isolation makes it")
	}
	n := newNeighbours(t)
	n.round(t, 0) // creates what only the first call needs
	var quiet, loud []time.Duration
	for try := range triesOfRounds {
		for i := range rounds {
			number := (try*rounds + i + 1) * 2 * questions
			quiet = append(quiet, n.round(t, number))
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { n.hostile.attack(ctx, t) })
			loud = append(loud, n.round(t, number+questions))
			cancel()
			running.Wait()
			t.Logf("round %d of %d, up to %d: p99 quiet %s, loud %s",
				try*rounds+i+1, (try+1)*rounds, triesOfRounds*rounds, quiet[len(quiet)-1], loud[len(loud)-1])
		}
		t.Logf("p99 of the rounds, quiet %v, loud %v", quiet, loud)
		if ratio := float64(median(loud)) / float64(median(quiet)); ratio < maxLatency {
			t.Logf("beside a hostile tenant the p99 is %.2f times that without", ratio)
			return
		}
	}
	t.Errorf("beside a hostile tenant the p99 is %s, without %s; want less than %.1f times that", median(loud), median(quiet), maxLatency)
}

// round asks the questions of a round and returns the p99 of their times.
func (n *neighbours) round(t *testing.T, number int) time.Duration {
	t.Helper()
	took := make([]time.Duration, questions)
	tick := time.NewTicker(questionPeriod)
	defer tick.Stop()
	for i := range took {
		<-tick.C
		took[i] = n.ask(t, number+i)
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
