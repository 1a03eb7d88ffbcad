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

// Stays counts how long guests run without coming back to the host, of an
// engine made WithStays, while it is on. That costs about a microsecond a
// slice, and each call a thread of its own: it is for measuring.
type Stays struct {
	on     atomic.Bool
	counts [64]atomic.Int64
	worst  atomic.Int64
}

// WithStays has an engine count the stays of its guests.
func WithStays(s *Stays) EngineOption {
	return func(o *engineOptions) { o.stays = s }
}

// Stay is a row of a histogram.
type Stay struct {
	// Below is the upper bound of the stays that Count counts; the row before
	// says the lower one.
	Below time.Duration
	Count int64
}

// Histogram returns all rows up to the last that counts anything, each twice as
// long as the one before. Time is that of the guest's thread on a processor,
// in the kernel or not.
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

// Longest is the longest stay.
func (s *Stays) Longest() time.Duration { return time.Duration(s.worst.Load()) }

// Count switches counting on or off. Calls under way are not counted.
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

// stay is the one of an instance that is under way.
type stay struct {
	in *Stays
	// counting says that the call under way is counted; the goroutine then keeps
	// its thread, so that the thread's time is the guest's.
	counting bool
	// begun is 0 while the host works.
	begun int64
}

// call begins a call, and ends it with what it returns.
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

// begin is when the guest runs on.
func (s *stay) begin() {
	if s.counting {
		s.begun = threadTime()
	}
}

// end is when it is back.
func (s *stay) end() {
	if s.counting && s.begun != 0 {
		s.in.add(time.Duration(threadTime() - s.begun))
		s.begun = 0
	}
}

// threadTime is how long this thread has run, in nanoseconds.
func threadTime() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return t.Nano()
}

// allocator is that of a memory. What it does to let the memory grow is not the
// guest's stay.
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
