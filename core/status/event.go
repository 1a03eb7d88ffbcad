package status

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/internal/faultlog"
	"github.com/wardlet/wardlet/core/pod"
)

// Recorder records events about pods.
type Recorder interface {
	// Event records that something happened to a pod. eventType is
	// v1.EventTypeNormal or v1.EventTypeWarning; reason is CamelCase.
	Event(p *v1.Pod, eventType, reason, message string)
}

// ContainerRecorder is a Recorder that distinguishes events about a container from those about its
// pod.
type ContainerRecorder interface {
	Recorder
	// ContainerEvent is Event for the named container of the pod.
	ContainerEvent(p *v1.Pod, container, eventType, reason, message string)
}

// ContainerEvent records an event about a container of a pod. If r is not a ContainerRecorder, the
// event is recorded about the pod.
func ContainerEvent(r Recorder, p *v1.Pod, container, eventType, reason, message string) {
	if c, ok := r.(ContainerRecorder); ok {
		c.ContainerEvent(p, container, eventType, reason, message)
		return
	}
	r.Event(p, eventType, reason, message)
}

// AnnotatedRecorder is a Recorder whose events can have annotations.
type AnnotatedRecorder interface {
	Recorder
	// AnnotatedEvent is Event with annotations, which the recorder must not change.
	AnnotatedEvent(p *v1.Pod, annotations map[string]string, eventType, reason, message string)
}

// AnnotatedEvent records an event with annotations, without them if r is not an AnnotatedRecorder.
func AnnotatedEvent(r Recorder, p *v1.Pod, annotations map[string]string, eventType, reason, message string) {
	if a, ok := r.(AnnotatedRecorder); ok {
		a.AnnotatedEvent(p, annotations, eventType, reason, message)
		return
	}
	r.Event(p, eventType, reason, message)
}

// MultiRecorder passes every event to each of its recorders, in order.
type MultiRecorder []Recorder

// Event implements Recorder.
func (m MultiRecorder) Event(p *v1.Pod, eventType, reason, message string) {
	for _, r := range m {
		r.Event(p, eventType, reason, message)
	}
}

// ContainerEvent implements ContainerRecorder.
func (m MultiRecorder) ContainerEvent(p *v1.Pod, container, eventType, reason, message string) {
	for _, r := range m {
		ContainerEvent(r, p, container, eventType, reason, message)
	}
}

// AnnotatedEvent implements AnnotatedRecorder.
func (m MultiRecorder) AnnotatedEvent(p *v1.Pod, annotations map[string]string, eventType, reason, message string) {
	for _, r := range m {
		AnnotatedEvent(r, p, annotations, eventType, reason, message)
	}
}

// LogRecorder writes events to a log: warnings at level WARN, others at INFO. A warning that
// repeats is written at most once a minute. It is safe for concurrent use.
type LogRecorder struct {
	logger *slog.Logger

	mu       sync.Mutex
	warnings faultlog.Pace
}

// NewLogRecorder makes a recorder that writes to logger.
func NewLogRecorder(logger *slog.Logger) *LogRecorder { return &LogRecorder{logger: logger} }

// Event implements Recorder.
func (l *LogRecorder) Event(p *v1.Pod, eventType, reason, message string) {
	level := slog.LevelInfo
	if eventType == v1.EventTypeWarning {
		level = slog.LevelWarn
		if l.loggedRecently(p, reason, message) {
			return
		}
	}
	l.logger.Log(context.Background(), level, "pod event",
		"pod", p.Namespace+"/"+p.Name, "uid", p.UID, "source", p.Annotations[pod.AnnotationSource],
		"reason", reason, "message", message)
}

// loggedRecently reports whether a warning was written less than a minute ago.
func (l *LogRecorder) loggedRecently(p *v1.Pod, reason, message string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.warnings.Due(string(p.UID)+" "+reason, message, time.Now())
}

// EventBuffer keeps the newest events in memory, up to a limit for each owner of pods: many events
// of one owner displace only events of that owner. It is safe for concurrent use.
type EventBuffer struct {
	share  int
	window time.Duration
	now    func() time.Time
	owner  func(namespace string) string

	changes Notifier

	mu  sync.Mutex
	seq uint64
	// owners maps each owner to its events, sorted by Seq, the newest last.
	owners map[string][]api.Event
}

// maxEventMessage is how many characters of an event's message an EventBuffer keeps. It is limited
// because plugins write messages.
const maxEventMessage = 1 << 10

// NewEventBuffer makes a buffer of size events (at least 1), all of one owner. If an event repeats
// another one (same pod, container, reason and message) within window of its last occurrence, it
// does not use another place: the count of the earlier event is increased.
func NewEventBuffer(size int, window time.Duration, now func() time.Time) *EventBuffer {
	return NewEventBufferPerOwner(size, window, now, func(string) string { return "" })
}

// NewEventBufferPerOwner makes a buffer of share events (at least 1) for each owner. owner returns
// the owner of the pods in a namespace; the number of owners must be bounded.
func NewEventBufferPerOwner(share int, window time.Duration, now func() time.Time, owner func(namespace string) string) *EventBuffer {
	return &EventBuffer{share: share, window: window, now: now, owner: owner, owners: map[string][]api.Event{}}
}

// Event implements Recorder.
func (r *EventBuffer) Event(p *v1.Pod, eventType, reason, message string) {
	r.record(p, "", eventType, reason, message)
}

// ContainerEvent implements ContainerRecorder.
func (r *EventBuffer) ContainerEvent(p *v1.Pod, container, eventType, reason, message string) {
	r.record(p, pod.FieldPath(p, container), eventType, reason, message)
}

func (r *EventBuffer) record(p *v1.Pod, fieldPath, eventType, reason, message string) {
	owner := r.owner(p.Namespace)
	defer r.changes.Notify() // after the lock was released
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.seq++
	e := api.Event{
		Seq: r.seq, FirstSeq: r.seq, First: now, Last: now, Count: 1, Type: eventType, Reason: reason, Message: truncateMessage(message),
		Namespace: p.Namespace, Name: p.Name, UID: p.UID, FieldPath: fieldPath, Source: p.Annotations[pod.AnnotationSource],
	}
	events := r.owners[owner]
	for i, old := range slices.Backward(events) {
		if now.Sub(old.Last) > r.window {
			break
		}
		if old.UID == e.UID && old.FieldPath == e.FieldPath && old.Reason == e.Reason && old.Message == e.Message {
			e.FirstSeq, e.First, e.Count = old.FirstSeq, old.First, old.Count+1
			events = slices.Delete(events, i, i+1)
			break
		}
	}
	if len(events) == r.share {
		events = slices.Delete(events, 0, 1)
	}
	r.owners[owner] = append(events, e)
}

// List returns a copy of the events of all owners, newest last.
func (r *EventBuffer) List() []api.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := []api.Event{}
	for _, events := range r.owners {
		all = append(all, events...)
	}
	slices.SortFunc(all, func(a, b api.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}

// Listen notifies of new events and of repeated ones; see Notifier.
func (r *EventBuffer) Listen() (changed <-chan struct{}, stop func()) { return r.changes.Listen() }

// truncateMessage returns a message of at most maxEventMessage characters.
func truncateMessage(message string) string {
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

// Notifier notifies listeners that something has changed since they last looked. The listeners look
// up themselves what has changed. Nothing is queued, so a slow listener costs nothing. The zero
// value is ready for use, and safe for concurrent use.
type Notifier struct {
	// count is the number of listeners. With it, Notify costs almost nothing if there are none.
	count atomic.Int32

	mu        sync.Mutex
	listeners map[chan struct{}]struct{}
}

// Notify notifies all listeners. It does not block.
func (n *Notifier) Notify() {
	if n.count.Load() == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for listener := range n.listeners {
		select {
		case listener <- struct{}{}:
		default: // the pending notification is sufficient
		}
	}
}

// Listen returns a channel that receives a value when something changes after the call and after
// the last received value. It is never closed; stop removes the listener.
func (n *Notifier) Listen() (changed <-chan struct{}, stop func()) {
	listener := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners == nil {
		n.listeners = map[chan struct{}]struct{}{}
	}
	n.listeners[listener] = struct{}{}
	n.count.Add(1)
	return listener, sync.OnceFunc(func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, listener)
		n.count.Add(-1)
	})
}
