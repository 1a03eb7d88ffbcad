package syncloop

import (
	"slices"
	"sync"
)

// sources says which sources have been heard. A source is heard once the loop
// has handled its first snapshot, not merely when the mux has it: until then
// what it took away may still be on its way here.
type sources struct {
	configured []string
	desired    Desired

	mu      sync.RWMutex
	handled map[string]bool
}

func newSources(configured []string, desired Desired) *sources {
	return &sources{configured: configured, desired: desired, handled: map[string]bool{}}
}

// mark notes sources whose first snapshot has been handled.
func (s *sources) mark(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.handled[name] = true
	}
}

// heard reports whether the named source has said what it wants. With an empty
// name, for a pod of which nobody knows the source, all must have.
func (s *sources) heard(name string) bool {
	if name == "" {
		return !slices.ContainsFunc(s.configured, func(n string) bool { return !s.heard(n) })
	}
	if slices.Contains(s.configured, name) && !s.isHandled(name) {
		return false
	}
	return s.desired.Seen(name)
}

func (s *sources) isHandled(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.handled[name]
}
