package syncloop

import (
	"maps"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// podSet holds the pods that should run, by UID only: several pods of one name may be in it at
// once. The loop writes it; Removable reads it from other goroutines.
type podSet struct {
	mu   sync.RWMutex
	pods map[types.UID]member
}

// member is a pod of the set, in its newest version.
type member struct {
	pod    *v1.Pod
	origin api.Origin
	// after is the pod that this one replaces, empty for none.
	after types.UID
	// verdict is the verdict of policy about pod, nil if policy was not asked.
	verdict *api.Verdict
	// ended is the version of the pod at the time when it ended. It is nil if that is pod itself,
	// or if the pod has not ended.
	ended *v1.Pod
	// rejected is true if the pod was not admitted. It gets no worker, and stays in the set as long
	// as its source has it.
	rejected bool
	// restored is true if the pod came from the checkpoint.
	restored bool
	// recreated is true for a pod that was added again while the earlier pod with its UID was being
	// terminated or had left something on the node. It is judged when the earlier pod has no worker
	// any more and nothing of it is left.
	recreated bool
}

func newPodSet() *podSet { return &podSet{pods: map[types.UID]member{}} }

// add adds a pod about which nothing has been decided yet.
func (s *podSet) add(c *api.Change) member {
	return s.put(member{pod: c.New, origin: c.Origin, verdict: c.Verdict, after: c.Replaces, restored: c.Op == api.Restore})
}

// update stores a newer version of a pod. Earlier decisions about the pod are kept.
func (s *podSet) update(c *api.Change) member {
	m, _ := s.get(c.New.UID)
	m.pod, m.origin = c.New, c.Origin
	if c.Verdict != nil {
		m.verdict = c.Verdict
	}
	return s.put(m)
}

func (s *podSet) put(m member) member {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pods[m.pod.UID] = m
	return m
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
