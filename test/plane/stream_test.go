package plane

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// stream reads the changes that the mux sends, as the sync loop would.
type stream struct {
	mu sync.Mutex
	// has are the pods that the mux has sent, with their answers. admitted are those
	// that were ever admitted, ended those that were removed afterwards.
	has             map[types.UID]api.Answer
	admitted, ended map[types.UID]bool
	faults          []string
}

func newStream() *stream {
	return &stream{has: map[types.UID]api.Answer{}, admitted: make(map[types.UID]bool, bookkeeping), ended: make(map[types.UID]bool, bookkeeping)}
}

// read reads until the stream ends.
func (s *stream) read(updates <-chan api.Update) {
	for u := range updates {
		s.mu.Lock()
		for i := range u.Changes {
			s.take(&u.Changes[i])
		}
		s.mu.Unlock()
	}
}

func (s *stream) take(c *api.Change) {
	uid := c.Pod().UID
	_, have := s.has[uid]
	switch c.Op {
	case api.Add, api.Restore:
		if have {
			s.faults = append(s.faults, fmt.Sprintf("%s of %s, which is there", c.Op, uid))
		}
		if c.Verdict == nil {
			s.faults = append(s.faults, fmt.Sprintf("%s of %s without a verdict", c.Op, uid))
			return
		}
		s.has[uid] = c.Verdict.Answer
		s.admitted[uid] = s.admitted[uid] || c.Verdict.Answer == api.Allow
	case api.Remove:
		if !have {
			s.faults = append(s.faults, fmt.Sprintf("REMOVE of %s, which is not there", uid))
		}
		if s.has[uid] == api.Allow {
			s.ended[uid] = true
		}
		delete(s.has, uid)
	default:
		s.faults = append(s.faults, fmt.Sprintf("%s of %s, which nobody changed", c.Op, uid))
	}
}

// answer returns the answer with which a pod was sent, empty for a pod that is not present.
func (s *stream) answer(uid types.UID) api.Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.has[uid]
}
