package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// percentile is that of sorted durations, 0 of none.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}

// pauses is the runtime's histogram of how long it took to stop the world for
// the garbage collector.
func pauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(sample)
	h := sample[0].Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: append([]uint64(nil), h.Counts...), Buckets: h.Buckets}
}

// quantile is that of what was counted in between, rounded up to its bucket.
func quantile(before, after *metrics.Float64Histogram, q float64) time.Duration {
	total := uint64(0)
	for i := range after.Counts {
		total += after.Counts[i] - before.Counts[i]
	}
	rank, seen := uint64(math.Ceil(float64(total)*q)), uint64(0)
	for i := range after.Counts {
		if seen += after.Counts[i] - before.Counts[i]; seen >= rank && total > 0 {
			return time.Duration(after.Buckets[i+1] * float64(time.Second))
		}
	}
	return 0
}

// look is what the process holds.
type look struct {
	at                time.Duration
	resident          int64
	files, goroutines int
}

func looked(at time.Duration) look {
	debug.FreeOSMemory()
	l := look{at: at, goroutines: runtime.NumGoroutine()}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		var size, pages int64
		if _, err := fmt.Sscan(string(text), &size, &pages); err == nil {
			l.resident = pages * int64(os.Getpagesize())
		}
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		l.files = len(files)
	}
	return l
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// faults are the first things that did not end as they must.
type faults struct {
	mu    sync.Mutex
	first []error
	more  int
}

const shownFaults = 5

func (f *faults) add(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.first) < shownFaults {
		f.first = append(f.first, err)
	} else {
		f.more++
	}
}

func (f *faults) err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.more > 0 {
		return errors.Join(append(f.first, fmt.Errorf("and %d more", f.more))...)
	}
	return errors.Join(f.first...)
}
