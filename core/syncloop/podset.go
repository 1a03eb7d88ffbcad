package syncloop

import (
	"maps"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
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
	origin api.Origin
	// after is the pod whose place this one takes, empty for none.
	after types.UID
	// verdict is what policy said of pod, nil where nothing was asked.
	verdict *api.Verdict
	// ended is the version that the pod was when it ended, nil where it is pod itself, or
	// nothing has ended.
	ended *v1.Pod
	// rejected: the pod was not admitted. It gets no worker, and stays in the
	// set for as long as its source holds it.
	rejected bool
	// restored: the checkpoint had the pod.
	restored bool
	// recreated is set for a pod that was added again while the pod that had its UID
	// was being ended, or had left something. It is judged when that has no worker any
	// more and nothing is left.
	recreated bool
}

func newPodSet() *podSet { return &podSet{pods: map[types.UID]member{}} }

// add adds a pod about which nothing is decided yet.
func (s *podSet) add(c *api.Change) member {
	return s.put(member{pod: c.New, origin: c.Origin, verdict: c.Verdict, after: c.Replaces, restored: c.Op == api.Restore})
}

// update records a newer version of a pod. What was decided about the pod stays.
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
