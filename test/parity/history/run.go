package history

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// failure is a history on which the sides differ.
type failure struct {
	seed uint64
	err  error
}

// run compares the histories of n seeds from first on, several at a time, and
// stops soon after limit failures.
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
