package status

import (
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Ring keeps the newest events in memory. It is safe for concurrent use.
type Ring struct {
	size   int
	window time.Duration
	now    func() time.Time

	mu     sync.Mutex
	events []Event // by Last, newest last
}

// NewRing makes a ring of size events (at least 1). An event that repeats
// another (same pod, reason and message) within window of its last occurrence
// raises that one's count instead of taking a place.
func NewRing(size int, window time.Duration, now func() time.Time) *Ring {
	return &Ring{size: size, window: window, now: now}
}

// Event implements Recorder.
func (r *Ring) Event(p *v1.Pod, eventType, reason, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	e := Event{
		First: now, Last: now, Count: 1, Type: eventType, Reason: reason, Message: message,
		Namespace: p.Namespace, Name: p.Name, UID: p.UID, Source: p.Annotations[pod.AnnotationSource],
	}
	for i, old := range slices.Backward(r.events) {
		if now.Sub(old.Last) > r.window {
			break
		}
		if old.UID == e.UID && old.Reason == e.Reason && old.Message == e.Message {
			e.First, e.Count = old.First, old.Count+1
			r.events = slices.Delete(r.events, i, i+1)
			break
		}
	}
	if len(r.events) == r.size {
		r.events = slices.Delete(r.events, 0, 1)
	}
	r.events = append(r.events, e)
}

// List is a copy of the events, newest last.
func (r *Ring) List() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}
