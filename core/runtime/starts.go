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
	// startTurn is how long one that is being made keeps others waiting. After that
	// it hangs: it goes on, but nobody waits for it. The more hang the less time the
	// next has, at least minStartTurn.
	startTurn    = 5 * time.Second
	minStartTurn = 20 * time.Millisecond
)

// starts bound how many sandboxes and containers are made at once. Containers come
// first: a pod that has begun to start runs before another begins.
type starts struct {
	mu      sync.Mutex
	free    int
	hanging int
	// containers and sandboxes wait, the first that came first. A channel is closed
	// when its turn has come.
	containers, sandboxes []chan struct{}
}

func newStarts() *starts {
	return &starts{free: max(startsPerCPU*goruntime.GOMAXPROCS(0), minStarts)}
}

// container waits for the turn of a container, sandbox for that of a sandbox. The
// caller calls done when it is made, or is not. They fail only when ctx ends.
func (s *starts) container(ctx context.Context) (done func(), err error) {
	return s.wait(ctx, &s.containers)
}

func (s *starts) sandbox(ctx context.Context) (done func(), err error) {
	return s.wait(ctx, &s.sandboxes)
}

func (s *starts) wait(ctx context.Context, line *[]chan struct{}) (done func(), err error) {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return s.hold(), nil
	}
	turn := make(chan struct{})
	*line = append(*line, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		return s.hold(), nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(*line, turn); i >= 0 {
		*line = slices.Delete(*line, i, i+1)
	} else { // its turn came in the same moment
		s.next()
	}
	return nil, fmt.Errorf("waiting until others have started: %w", context.Cause(ctx))
}

// hold has a turn end when it is done, or hangs.
func (s *starts) hold() (done func()) {
	s.mu.Lock()
	patience := max(startTurn/time.Duration(1+max(s.hanging, 0)), minStartTurn)
	s.mu.Unlock()
	pass := sync.OnceFunc(s.next)
	count := func(by int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.hanging += by
		pass()
	}
	timer := time.AfterFunc(patience, func() { count(1) })
	return func() {
		if timer.Stop() {
			count(0)
		} else {
			count(-1)
		}
	}
}

// next gives a turn to whoever waits. The caller holds mu.
func (s *starts) next() {
	for _, line := range []*[]chan struct{}{&s.containers, &s.sandboxes} {
		if len(*line) > 0 {
			close((*line)[0])
			*line = (*line)[1:]
			return
		}
	}
	s.free++
}
