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

	"github.com/wardlet/wardlet/core/policy/wasm/memory"
)

// percentile returns a percentile of sorted durations, 0 if there are none.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}

// pauses returns the runtime's histogram of how long it took to stop the world for the garbage
// collector.
func pauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(sample)
	h := sample[0].Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: append([]uint64(nil), h.Counts...), Buckets: h.Buckets}
}

// quantile returns a quantile of the values counted between two histograms, rounded up to its
// bucket.
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

// look has the resources that the process uses.
type look struct {
	at       time.Duration
	resident int64
	// heap is the memory of objects in Go's heap, inUse that of the heap's spans; guests is the
	// memory outside the heap.
	heap, inUse       uint64
	guests            memory.Used
	files, goroutines int
}

func (l look) String() string {
	return fmt.Sprintf("after %s %.1f MiB are resident: Go's heap has %.1f MiB in use and %.1f MiB of live objects, snapshots take %.1f MiB",
		l.at, mib(l.resident), mib(int64(l.inUse)), mib(int64(l.heap)), mib(l.guests.Committed))
}

func looked(at time.Duration) look {
	debug.FreeOSMemory()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	l := look{
		at: at, goroutines: runtime.NumGoroutine(), guests: memory.Usage(),
		heap: stats.HeapAlloc, inUse: stats.HeapInuse,
	}
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

// faults are the first results that were not as required.
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
