package wasm

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/policy/wasm/memory"
)

// Stays measures how long guests run without returning to the host, in an engine
// made WithStays, while counting is on. Counting costs about a microsecond a slice,
// and locks each call to a thread, so it is for measurements only.
type Stays struct {
	on     atomic.Bool
	counts [64]atomic.Int64
	worst  atomic.Int64
}

// WithStays makes an engine record the stays of its guests in s.
func WithStays(s *Stays) EngineOption {
	return func(o *engineOptions) { o.stays = s }
}

// Stay is a row of a histogram.
type Stay struct {
	// Below is the upper bound of the stays in this row. The lower bound is the field Below
	// of the previous row. Count is the number of stays.
	Below time.Duration
	Count int64
}

// Histogram returns all rows up to the last that is not empty. The bound of each
// row is twice that of the row before. Stays are measured in processor time of the
// guest's thread, in user mode and in the kernel.
func (s *Stays) Histogram() (rows []Stay) {
	last := 0
	for i := range s.counts {
		if s.counts[i].Load() > 0 {
			last = i
		}
	}
	for i := range last + 1 {
		rows = append(rows, Stay{Below: time.Duration(1) << i, Count: s.counts[i].Load()})
	}
	return rows
}

// Longest returns the longest stay.
func (s *Stays) Longest() time.Duration { return time.Duration(s.worst.Load()) }

// Count switches counting on or off. Calls that already run are not counted.
func (s *Stays) Count(on bool) { s.on.Store(on) }

func (s *Stays) add(d time.Duration) {
	s.counts[bits.Len64(uint64(max(d, 0)))].Add(1)
	for {
		worst := s.worst.Load()
		if int64(d) <= worst || s.worst.CompareAndSwap(worst, int64(d)) {
			return
		}
	}
}

// stay is the current stay of an instance.
type stay struct {
	in *Stays
	// counting reports whether the current call is counted. Its goroutine is then
	// locked to its thread, so that the thread's time is the guest's.
	counting bool
	// begun is 0 while the host works.
	begun int64
}

// call begins a call. The caller calls end after it.
func (s *stay) call() (end func()) {
	if s.in == nil || !s.in.on.Load() {
		return func() {}
	}
	runtime.LockOSThread()
	s.counting = true
	s.begin()
	return func() {
		s.end()
		s.counting = false
		runtime.UnlockOSThread()
	}
}

// begin is called when the guest starts to run.
func (s *stay) begin() {
	if s.counting {
		s.begun = threadTime()
	}
}

// end is called when the guest has returned to the host.
func (s *stay) end() {
	if s.counting && s.begun != 0 {
		s.in.add(time.Duration(threadTime() - s.begun))
		s.begun = 0
	}
}

// threadTime returns how long this thread has run, in nanoseconds.
func threadTime() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return t.Nano()
}

// allocator allocates a linear memory. The time that it takes to grow the memory is
// not counted as the guest's stay.
type allocator struct {
	linear *memory.Linear
	stay   *stay
}

func (a allocator) Allocate(least, most uint64) experimental.LinearMemory {
	a.linear.Allocate(least, most)
	return a
}

func (a allocator) Reallocate(size uint64) []byte {
	a.stay.end()
	defer a.stay.begin()
	return a.linear.Reallocate(size)
}

func (a allocator) Free() { a.linear.Free() }
