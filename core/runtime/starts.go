package runtime

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"time"
)

const (
	// startsPerCPU is how many sandboxes and containers are made at once for each processor, and
	// minStarts is the minimum. Making one mostly uses processor time of the runtime: sixty at once
	// on two processors take a tenth longer than eight at a time.
	startsPerCPU = 4
	minStarts    = 4
	// slotTime is how long the making of a sandbox or container holds its slot. After that it
	// counts as hanging: it continues, but others no longer wait for it. The more hang, the less
	// time the next one holds its slot, but at least minSlotTime.
	slotTime    = 5 * time.Second
	minSlotTime = 20 * time.Millisecond
	// On a slow node, the slot is held for slowFactor times what the making usually takes, up to
	// maxSlotTime, and for firstSlotTime while that is not known: if all were made at once there, the
	// runtime would not make any of them in time.
	slowFactor    = 3
	maxSlotTime   = time.Minute
	firstSlotTime = 30 * time.Second
)

// startLimiter limits how many sandboxes and containers are made at once. Containers come first: a
// pod that has begun to start runs before another one begins.
type startLimiter struct {
	mu      sync.Mutex
	free    int
	hanging int
	// usual is what the making of one usually takes: a mean that weighs the newer ones more. It is 0
	// before the first.
	usual time.Duration
	// containers and sandboxes are the waiters for a slot, each in the order of arrival. The
	// channel of a waiter is closed when it has a slot.
	containers, sandboxes []chan struct{}
}

func newStartLimiter() *startLimiter {
	return &startLimiter{free: max(startsPerCPU*goruntime.GOMAXPROCS(0), minStarts)}
}

// acquireContainer waits for a slot for a container, and acquireSandbox for a sandbox. The caller
// calls done when the object was made or has failed. They fail only if ctx is done.
func (s *startLimiter) acquireContainer(ctx context.Context) (done func(), err error) {
	return s.acquire(ctx, &s.containers)
}

func (s *startLimiter) acquireSandbox(ctx context.Context) (done func(), err error) {
	return s.acquire(ctx, &s.sandboxes)
}

func (s *startLimiter) acquire(ctx context.Context, queue *[]chan struct{}) (done func(), err error) {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return s.holdSlot(), nil
	}
	slot := make(chan struct{})
	*queue = append(*queue, slot)
	s.mu.Unlock()
	select {
	case <-slot:
		return s.holdSlot(), nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(*queue, slot); i >= 0 {
		*queue = slices.Delete(*queue, i, i+1)
	} else { // it got a slot at the same moment
		s.startNext()
	}
	return nil, fmt.Errorf("waiting until others have started: %w", context.Cause(ctx))
}

// holdSlot returns the function that releases a slot. The slot is also released when its time has
// passed.
func (s *startLimiter) holdSlot() (done func()) {
	s.mu.Lock()
	limit := firstSlotTime
	if s.usual > 0 {
		limit = min(max(slowFactor*s.usual, slotTime), maxSlotTime)
	}
	limit = max(limit/time.Duration(1+max(s.hanging, 0)), minSlotTime)
	s.mu.Unlock()
	release := sync.OnceFunc(s.startNext)
	began := time.Now()
	count := func(by int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hanging += by
		if took := time.Since(began); by <= 0 && s.usual == 0 {
			s.usual = took
		} else if by <= 0 {
			s.usual = (3*s.usual + took) / 4
		}
		release()
	}
	timer := time.AfterFunc(limit, func() { count(1) })
	return func() {
		if timer.Stop() {
			count(0)
		} else {
			count(-1)
		}
	}
}

// startNext passes a slot to the first waiter.
func (s *startLimiter) startNext() {
	for _, queue := range []*[]chan struct{}{&s.containers, &s.sandboxes} {
		if len(*queue) > 0 {
			close((*queue)[0])
			*queue = (*queue)[1:]
			return
		}
	}
	s.free++
}
