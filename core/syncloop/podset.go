package syncloop

import (
	"maps"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// podSet holds the pods that are to run, by UID and by nothing else: several
// pods of one name may be there at once. The loop writes it; Removable reads
// it from other goroutines.
type podSet struct {
	mu   sync.RWMutex
	pods map[types.UID]member
}

// member is a pod of the set, in its newest version.
type member struct {
	pod    *v1.Pod
	origin pod.Origin
}

func newPodSet() *podSet { return &podSet{pods: map[types.UID]member{}} }

func (s *podSet) put(c *pod.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pods[c.New.UID] = member{pod: c.New, origin: c.Origin}
}

func (s *podSet) remove(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pods, uid)
}

func (s *podSet) get(uid types.UID) (member, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	m, ok := s.pods[uid]
	return m, ok
}

func (s *podSet) has(uid types.UID) bool {
	_, ok := s.get(uid)
	return ok
}

func (s *podSet) all() map[types.UID]member {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.pods)
}
