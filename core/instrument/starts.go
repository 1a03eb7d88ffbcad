package instrument

import (
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/metrics"
)

// starts measures the time since pods were first seen, except for pods seen before the agent
// started.
type starts struct {
	workers *metrics.Workers
	began   time.Time

	mu sync.Mutex
	// seen has the pods that have a worker and do not run yet, with the time when they were first
	// seen.
	seen map[types.UID]time.Time
}

func newStarts(workers *metrics.Workers, now time.Time) *starts {
	return &starts{workers: workers, began: now, seen: map[types.UID]time.Time{}}
}

// begun records that a pod gets a worker.
func (s *starts) begun(p *v1.Pod, firstSeen, now time.Time) {
	if firstSeen.Before(s.began) {
		s.workers.Began(-1, len(p.Spec.Containers))
		return
	}
	s.workers.Began(now.Sub(firstSeen), len(p.Spec.Containers))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[p.UID] = firstSeen
}

// is records the phase of a pod.
func (s *starts) is(uid types.UID, phase v1.PodPhase, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	firstSeen, timed := s.seen[uid]
	if !timed || phase == v1.PodPending {
		return
	}
	delete(s.seen, uid)
	if phase == v1.PodRunning {
		s.workers.Running(now.Sub(firstSeen))
	}
}

// keep forgets the pods without a worker.
func (s *starts) keep(has func(types.UID) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uid := range s.seen {
		if !has(uid) {
			delete(s.seen, uid)
		}
	}
}
