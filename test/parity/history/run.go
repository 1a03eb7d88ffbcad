package history

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// failure is a history in which the sides differ.
type failure struct {
	seed uint64
	err  error
}

// run compares the histories of n seeds, starting with first, several at a time. It stops soon
// after limit failures.
func run(first uint64, n, limit int) (*tally, map[string]int, []failure) {
	var (
		mu       sync.Mutex
		total    = newTally()
		edited   = map[string]int{}
		failures []failure
		next     atomic.Int64
		workers  sync.WaitGroup
		failed   atomic.Int64
	)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				i := next.Add(1) - 1
				if i >= int64(n) || failed.Load() >= int64(limit) {
					return
				}
				h, t := generate(first+uint64(i)), newTally()
				err := compare(h, t)
				mu.Lock()
				total.add(t)
				for path, count := range h.edited {
					edited[path] += count
				}
				if err != nil {
					failed.Add(1)
					failures = append(failures, failure{h.seed, err})
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	slices.SortFunc(failures, func(a, b failure) int { return int(int64(a.seed) - int64(b.seed)) })
	return total, edited, failures
}

// tally counts what was compared.
type tally struct {
	deliveries int
	// exact counts the operations on pods that are the same on both sides, excused counts the
	// operations that a listed difference explains.
	exact, excused int
	used           map[string]int
}

func newTally() *tally { return &tally{used: map[string]int{}} }

func (t *tally) add(o *tally) {
	t.deliveries += o.deliveries
	t.exact += o.exact
	t.excused += o.excused
	for id, n := range o.used {
		t.used[id] += n
	}
}

func (t *tally) use(ids ...string) {
	for _, id := range ids {
		t.used[id]++
	}
}

// String describes for a reader what was compared.
func (t *tally) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d deliveries compared; %d operations on pods the same, %d of %d excused by a listed difference\n",
		t.deliveries, t.exact, t.excused, t.exact+t.excused)
	for _, id := range slices.Sorted(maps.Keys(t.used)) {
		fmt.Fprintf(&text, "  %-32s used %d times\n", id, t.used[id])
	}
	return text.String()
}
