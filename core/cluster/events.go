package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/pod"
)

const (
	// eventWindow is the time within which a repeated event only increases the counter of the earlier
	// one.
	eventWindow = 10 * time.Minute
	// maxSimilar is the number of events about one object for one reason that may differ in their
	// messages. Further ones become one event.
	maxSimilar = 10
	// maxEvents is the maximum number of events about one owner's pods. Beyond it, the events that
	// have not been repeated for longest are forgotten.
	maxEvents = 500
	// eventBurst is the number of events about one owner's pods that are sent at once, as with a
	// kubelet. After that, one event is sent per eventPeriod. That is a fifth of the agent's request
	// rate.
	eventBurst  = 100
	eventPeriod = 100 * time.Millisecond
	// sendPeriod is the delay between an event and its request. It keeps the cost for the API server
	// out of a container's start, and combines repetitions into one request.
	sendPeriod = time.Second
	// nodeOwner is the owner of the events about the node; no tenant can have this name.
	nodeOwner = "/"
	// eventComponent is the reporting component of the events: programs that read events expect this
	// name for events of a node.
	eventComponent = "kubelet"
)

// EventConfig is the configuration of Events.
type EventConfig struct {
	Client *kube.Client
	Node   string
	// Owner returns the owner of the pods in a namespace. Each owner has its own share of events.
	Owner func(namespace string) string
	Now   func() time.Time
	Log   Logger
}

// Logger writes debug lines; see slog.Logger.
type Logger interface {
	Debug(msg string, args ...any)
}

// Events writes events about pods and the node to the API server. A repeated event increases a
// counter. Many events about one owner's pods replace, and delay, only events of that owner. Event
// does not block; Run sends.
type Events struct {
	cfg  EventConfig
	wake chan struct{}

	mu     sync.Mutex
	owners map[string]*ownerEvents
}

// ownerEvents are the events about one owner's pods, ordered by their last occurrence, the newest
// last.
type ownerEvents struct {
	events []*event
	// tokens is the number of events that may be sent now. It is refilled for the time since refilled.
	tokens   int
	refilled time.Time
}

// event is an event that has occurred once or several times.
type event struct {
	about       v1.ObjectReference
	annotations map[string]string
	kind        string
	reason      string
	message     string
	first, last time.Time
	count       int32
	// similar is true for an event that stands for many messages.
	similar bool
	// name is the name of the API object, empty before it is created. owed is true while the API
	// object is not up to date.
	name string
	owed bool
}

// namespace returns the namespace of the event's object. It is the default namespace for an event
// about a node, which has none.
func (e *event) namespace() string { return cmp.Or(e.about.Namespace, metav1.NamespaceDefault) }

// NewEvents returns Events without any event.
func NewEvents(cfg EventConfig) *Events {
	return &Events{cfg: cfg, wake: make(chan struct{}, 1), owners: map[string]*ownerEvents{}}
}

// Event records that something happened to a pod.
func (e *Events) Event(p *v1.Pod, kind, reason, message string) {
	e.podEvent(p, "", nil, kind, reason, message)
}

// AnnotatedEvent is Event with annotations of the API object.
func (e *Events) AnnotatedEvent(p *v1.Pod, annotations map[string]string, kind, reason, message string) {
	e.podEvent(p, "", annotations, kind, reason, message)
}

// ContainerEvent records that something happened to the container with that name.
func (e *Events) ContainerEvent(p *v1.Pod, container, kind, reason, message string) {
	e.podEvent(p, pod.FieldPath(p, container), nil, kind, reason, message)
}

// podEvent records an event about a part of a pod. An empty field means the whole pod.
func (e *Events) podEvent(p *v1.Pod, field string, annotations map[string]string, kind, reason, message string) {
	about := v1.ObjectReference{
		Kind: "Pod", APIVersion: "v1", Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion, FieldPath: field,
	}
	e.record(e.cfg.Owner(p.Namespace), about, annotations, kind, reason, message)
}

// NodeEvent records that something happened to the node.
func (e *Events) NodeEvent(kind, reason, message string) {
	// kubectl finds events of the controllers by the node's UID, and events of a kubelet by this UID.
	about := v1.ObjectReference{Kind: "Node", APIVersion: "v1", Name: e.cfg.Node, UID: types.UID(e.cfg.Node)}
	e.record(nodeOwner, about, nil, kind, reason, message)
}

func (e *Events) record(owner string, about v1.ObjectReference, annotations map[string]string, kind, reason, message string) {
	now := e.cfg.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.owners[owner]
	if all == nil {
		all = &ownerEvents{tokens: eventBurst, refilled: now}
		e.owners[owner] = all
	}
	all.add(about, annotations, kind, reason, message, now)
	select {
	case e.wake <- struct{}{}:
	default: // the one that waits says it too
	}
}

// add adds an event, or increases the counter of the event that it repeats.
func (o *ownerEvents) add(about v1.ObjectReference, annotations map[string]string, kind, reason, message string, now time.Time) {
	similar := 0
	var is *event
	for _, old := range slices.Backward(o.events) {
		if now.Sub(old.last) > eventWindow {
			break
		}
		if !same(&old.about, &about) || old.reason != reason || old.kind != kind {
			continue
		}
		if old.similar || old.message == message {
			is = old
			break
		}
		similar++
	}
	switch {
	case is == nil && similar >= maxSimilar:
		is = &event{about: about, kind: kind, reason: reason, first: now, similar: true}
	case is == nil:
		is = &event{about: about, annotations: annotations, kind: kind, reason: reason, message: message, first: now}
	default:
		o.events = slices.DeleteFunc(o.events, func(old *event) bool { return old == is })
	}
	if is.similar {
		is.message = "(combined from similar events): " + message
	}
	is.count++
	is.last, is.owed = now, true
	if len(o.events) >= maxEvents {
		o.events = slices.Delete(o.events, 0, 1)
	}
	o.events = append(o.events, is)
}

// same reports whether two events are about the same container, or about the same object.
func same(a, b *v1.ObjectReference) bool { return a.UID == b.UID && a.FieldPath == b.FieldPath }

// Run sends events until ctx is done. Then it sends the remaining ones within sendPeriod.
func (e *Events) Run(ctx context.Context) {
	for {
		select {
		case <-e.wake:
		case <-ctx.Done():
		}
		for sleep(ctx, sendPeriod, 0) {
			if e.sendAll(ctx); !e.owed() {
				break
			}
		}
		if ctx.Err() != nil {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendPeriod)
			defer cancel()
			e.sendAll(last)
			return
		}
	}
}

// owed reports whether an event is not yet at the API server.
func (e *Events) owed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, o := range e.owners {
		if slices.ContainsFunc(o.events, func(is *event) bool { return is.owed }) {
			return true
		}
	}
	return false
}

// sendAll sends the events that owners may send now, until the API server refuses one.
func (e *Events) sendAll(ctx context.Context) {
	for next := e.next(); next != nil; next = e.next() {
		if err := e.send(ctx, next); err != nil {
			e.cfg.Log.Debug("an event is not at the API server", "about", path.Join(next.about.Kind, next.about.Namespace, next.about.Name), "reason", next.reason, "err", err)
			return
		}
	}
}

// next returns a copy of an event that is owed and whose owner may send one now; nil for none.
func (e *Events) next() *event {
	now := e.cfg.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, o := range e.owners {
		if more := int(now.Sub(o.refilled) / eventPeriod); more > 0 {
			o.tokens, o.refilled = min(o.tokens+more, eventBurst), now
		}
		if o.tokens == 0 {
			continue
		}
		for _, is := range o.events {
			if is.owed {
				o.tokens--
				out := *is
				return &out
			}
		}
	}
	return nil
}

// send creates or updates the API object of an event.
func (e *Events) send(ctx context.Context, is *event) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	name := is.name
	var err error
	if name != "" {
		err = e.update(ctx, is)
	}
	if name == "" || apierrors.IsNotFound(err) {
		name, err = e.create(ctx, is)
	}
	if err != nil && !rejected(err) {
		return e.cfg.Client.Explain(err)
	}
	e.sent(is, name)
	return nil
}

// rejected reports whether a retry cannot succeed: the namespace is terminating, or the API server or
// one of its webhooks rejects the event.
func rejected(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	code := answer.Status().Code
	return code >= 400 && code < 500 && code != http.StatusUnauthorized && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests
}

// sent records that the API server has an event in the state in which it was sent.
func (e *Events) sent(is *event, name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, o := range e.owners {
		for _, known := range o.events {
			if same(&known.about, &is.about) && known.reason == is.reason && known.kind == is.kind && known.first.Equal(is.first) {
				known.name, known.owed = name, known.count != is.count
			}
		}
	}
}

func (e *Events) create(ctx context.Context, is *event) (string, error) {
	object := &v1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: eventName(is), Namespace: is.namespace(), Annotations: is.annotations},
		InvolvedObject: is.about, Reason: is.reason, Message: is.message, Type: is.kind, Count: is.count,
		FirstTimestamp: metav1.NewTime(is.first), LastTimestamp: metav1.NewTime(is.last),
		Source:              v1.EventSource{Component: eventComponent, Host: e.cfg.Node},
		ReportingController: eventComponent, ReportingInstance: e.cfg.Node,
	}
	err := e.cfg.Client.Request(http.MethodPost, v1.SchemeGroupVersion).Namespace(is.namespace()).Resource("events").Body(object).Do(ctx).Error()
	if apierrors.IsAlreadyExists(err) {
		err = nil
	}
	return object.Name, err
}

// maxEventName limits the part of an object's name in the name of its event: with the time
// appended, the name has a valid length.
const maxEventName = 236

// eventName returns a unique name for an event.
func eventName(is *event) string {
	name := strings.TrimRight(is.about.Name[:min(len(is.about.Name), maxEventName)], "-.")
	return fmt.Sprintf("%s.%s", name, strconv.FormatInt(is.first.UnixNano(), 16))
}

func (e *Events) update(ctx context.Context, is *event) error {
	text, err := json.Marshal(map[string]any{"count": is.count, "lastTimestamp": metav1.NewTime(is.last), "message": is.message})
	if err != nil {
		return err
	}
	return e.cfg.Client.Request(http.MethodPatch, v1.SchemeGroupVersion).Namespace(is.namespace()).Resource("events").Name(is.name).
		SetHeader("Content-Type", string(types.MergePatchType)).Body(text).Do(ctx).Error()
}
