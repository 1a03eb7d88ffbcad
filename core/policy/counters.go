package policy

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// counters count the opinions of one policy, for as long as its name is in
// force. What filters and merge policies say is counted as that of admission it is
// most like: an update that passes and a named winner as allowed, what is held back
// and a conflict that changes nothing as held, a conflict nobody wins as denied.
type counters struct {
	allowed, denied, held, abstained, failed atomic.Uint64
	// failure is the newest one.
	failure atomic.Pointer[string]

	mu    sync.Mutex
	codes map[string]uint64 // failures by their code
}

func (c *counters) count(o *api.Opinion) {
	switch o.Answer {
	case api.Allow, api.Answer(api.Pass):
		c.allowed.Add(1)
	case api.Deny, api.Answer(wasm.MergeReject):
		c.denied.Add(1)
	case api.Hold, api.Answer(api.Defer), api.Answer(api.Drop), api.Answer(wasm.MergeKeep):
		c.held.Add(1)
	case api.Abstain:
		c.abstained.Add(1)
	default:
		if strings.HasPrefix(string(o.Answer), winnerPrefix) {
			c.allowed.Add(1)
		}
	}
	if o.Failure != "" && o.Failure != string(referencesUnknown) {
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
func (c *counters) show(s *api.PolicyState) {
	s.Allowed, s.Denied, s.Held = c.allowed.Load(), c.denied.Load(), c.held.Load()
	s.Abstained, s.Failed = c.abstained.Load(), c.failed.Load()
	c.mu.Lock()
	s.Failures = maps.Clone(c.codes)
	c.mu.Unlock()
	if failure := c.failure.Load(); failure != nil {
		s.LastFailure = *failure
	}
}
