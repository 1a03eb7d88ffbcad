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
	// startsPerCPU is how many sandboxes and containers are made at once for each
	// processor, minStarts how many at least. Making one is processor time of the
	// runtime's for the most part: sixty at once on two processors take a tenth
	// longer than eight at a time.
	startsPerCPU = 4
	minStarts    = 8
	// slotTime is how long one that is being made holds its slot. After that it hangs:
	// it goes on, but others no longer wait for it. The more hang the less time the
	// next has, at least minSlotTime.
	slotTime    = 5 * time.Second
	minSlotTime = 20 * time.Millisecond
)

// startLimiter bounds how many sandboxes and containers are made at once. Containers
// come first: a pod that has begun to start runs before another begins.
type startLimiter struct {
	mu      sync.Mutex
	free    int
	hanging int
	// containers and sandboxes wait for a slot, each in the order in which they came.
	// A channel is closed when it has one.
	containers, sandboxes []chan struct{}
}

func newStartLimiter() *startLimiter {
	return &startLimiter{free: max(startsPerCPU*goruntime.GOMAXPROCS(0), minStarts)}
}

// acquireContainer waits for the slot of a container, acquireSandbox for that of a
// sandbox. The caller calls done when it is made, or is not. They fail only when ctx
// ends.
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
	} else { // its turn came in the same moment
		s.startNext()
	}
	return nil, fmt.Errorf("waiting until others have started: %w", context.Cause(ctx))
}

// holdSlot returns what ends a slot. It ends by itself when its time is over.
func (s *startLimiter) holdSlot() (done func()) {
	s.mu.Lock()
	limit := max(slotTime/time.Duration(1+max(s.hanging, 0)), minSlotTime)
	s.mu.Unlock()
	release := sync.OnceFunc(s.startNext)
	count := func(by int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hanging += by
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

// startNext hands a slot to the first that waits. The caller holds mu.
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
