package status

import (
	"cmp"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// maxEventMessage is how many characters of an event's message a Ring keeps:
// plugins write into them.
const maxEventMessage = 1 << 10

// Ring keeps the newest events in memory: of the pods of each owner so many, so
// that one owner's many push out only its own. It is safe for concurrent use.
type Ring struct {
	share  int
	window time.Duration
	now    func() time.Time
	owner  func(namespace string) string

	changes Notifier

	mu  sync.Mutex
	seq uint64
	// owners have their events by Seq, the newest last.
	owners map[string][]Event
}

// NewRing makes a ring of size events (at least 1), all of one owner. An event
// that repeats another (same pod, reason and message) within window of its last
// occurrence raises that one's count instead of taking a place.
func NewRing(size int, window time.Duration, now func() time.Time) *Ring {
	return NewSharedRing(size, window, now, func(string) string { return "" })
}

// NewSharedRing makes a ring of share events (at least 1) for each owner. owner
// says whose the pods in a namespace are, and has a bounded number of answers.
func NewSharedRing(share int, window time.Duration, now func() time.Time, owner func(namespace string) string) *Ring {
	return &Ring{share: share, window: window, now: now, owner: owner, owners: map[string][]Event{}}
}

// Event implements Recorder.
func (r *Ring) Event(p *v1.Pod, eventType, reason, message string) {
	owner := r.owner(p.Namespace)
	defer r.changes.Notify() // after the lock was given back
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.seq++
	e := Event{
		Seq: r.seq, Began: r.seq, First: now, Last: now, Count: 1, Type: eventType, Reason: reason, Message: shortened(message),
		Namespace: p.Namespace, Name: p.Name, UID: p.UID, Source: p.Annotations[pod.AnnotationSource],
	}
	events := r.owners[owner]
	for i, old := range slices.Backward(events) {
		if now.Sub(old.Last) > r.window {
			break
		}
		if old.UID == e.UID && old.Reason == e.Reason && old.Message == e.Message {
			e.Began, e.First, e.Count = old.Began, old.First, old.Count+1
			events = slices.Delete(events, i, i+1)
			break
		}
	}
	if len(events) == r.share {
		events = slices.Delete(events, 0, 1)
	}
	r.owners[owner] = append(events, e)
}

// List is a copy of the events of all owners, newest last.
func (r *Ring) List() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []Event{}
	for _, events := range r.owners {
		all = append(all, events...)
	}
	slices.SortFunc(all, func(a, b Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}

// Listen tells of new events, and of those that repeat; see Notifier.
func (r *Ring) Listen() (changed <-chan struct{}, stop func()) { return r.changes.Listen() }

// shortened is a message that is not too long to be kept.
func shortened(message string) string {
	if len(message) <= maxEventMessage {
		return message
	}
	runes := []rune(message)
	if len(runes) <= maxEventMessage {
		return message
	}
	const more = "..."
	return string(runes[:maxEventMessage-len(more)]) + more
}
