package policy

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/wardlet/wardlet/core/pod"
)

// counters count the opinions of one policy, for as long as its name is in
// force.
type counters struct {
	allowed, denied, held, abstained, failed atomic.Uint64
	// failure is the newest one.
	failure atomic.Pointer[string]

	mu    sync.Mutex
	codes map[string]uint64 // failures by their code
}

func (c *counters) count(o *pod.Opinion) {
	switch o.Answer {
	case pod.Allow:
		c.allowed.Add(1)
	case pod.Deny:
		c.denied.Add(1)
	case pod.Hold:
		c.held.Add(1)
	case pod.Abstain:
		c.abstained.Add(1)
	}
	if o.Failure != "" {
		c.failed.Add(1)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.codes == nil {
			c.codes = map[string]uint64{}
		}
		c.codes[o.Failure]++
	}
}

// fail remembers a failure and reports whether the one before was another.
func (c *counters) fail(message string) (news bool) {
	before := c.failure.Swap(&message)
	return before == nil || *before != message
}

// show fills in what `get policies` shows.
func (c *counters) show(s *pod.PolicyState) {
	s.Allowed, s.Denied, s.Held = c.allowed.Load(), c.denied.Load(), c.held.Load()
	s.Abstained, s.Failed = c.abstained.Load(), c.failed.Load()
	c.mu.Lock()
	s.Failures = maps.Clone(c.codes)
	c.mu.Unlock()
	if failure := c.failure.Load(); failure != nil {
		s.LastFailure = *failure
	}
}
