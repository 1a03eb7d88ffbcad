package cluster

import (
	"cmp"
	"context"
	"encoding/json"
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
	// eventWindow is for how long an event that happens again only raises the counter of the one before.
	eventWindow = 10 * time.Minute
	// maxSimilar is how many events about one thing and of one reason differ by their message before they become one.
	maxSimilar = 10
	// maxEvents is how many events are known of one owner's pods; those that have not happened for longest are
	// forgotten.
	maxEvents = 500
	// eventBurst is how many events of one owner's pods are sent at once, as with a kubelet; eventPeriod is the time from
	// one to the next after that: a fifth of the requests that all of the agent may make.
	eventBurst  = 100
	eventPeriod = 100 * time.Millisecond
	// sendPeriod is the time from an event to the request that sends it. What a container's start costs the API server comes
	// after the start, and what repeats within it costs one request.
	sendPeriod = time.Second
	// nodeOwner has the share of events about the node; no tenant is named so.
	nodeOwner = "/"
	// eventComponent is who events are from: what reads events knows a node's by this name.
	eventComponent = "kubelet"
)

// EventConfig is what Events work with.
type EventConfig struct {
	Client *kube.Client
	Node   string
	// Owner returns whose the pods in a namespace are; each owner has a share of its own.
	Owner func(namespace string) string
	Now   func() time.Time
	Log   Logger
}

// Logger takes lines for debugging; see slog.Logger.
type Logger interface {
	Debug(msg string, args ...any)
}

// Events writes events about pods and the node to the API server. What happens again raises a counter; many events of one owner's
// pods push out, and delay, only that owner's. Event does not block; Run sends.
type Events struct {
	cfg  EventConfig
	wake chan struct{}

	mu     sync.Mutex
	owners map[string]*ownerEvents
}

// ownerEvents are the events of one owner's pods, by the last time they happened, the newest last.
type ownerEvents struct {
	events []*event
	// tokens is how many may be sent now, filled since refilled.
	tokens   int
	refilled time.Time
}

// event is one that has happened, perhaps several times.
type event struct {
	about       v1.ObjectReference
	kind        string
	reason      string
	message     string
	first, last time.Time
	count       int32
	// similar is true for one that stands for many messages.
	similar bool
	// name is that of the object at the API server, empty before it is made; owed is true while it is not up to date.
	name string
	owed bool
}

// namespace returns that of the event's object: the default one for an event about a node, which has none.
func (e *event) namespace() string { return cmp.Or(e.about.Namespace, metav1.NamespaceDefault) }

// NewEvents returns events without any.
func NewEvents(cfg EventConfig) *Events {
	return &Events{cfg: cfg, wake: make(chan struct{}, 1), owners: map[string]*ownerEvents{}}
}

// Event records that something happened to a pod.
func (e *Events) Event(p *v1.Pod, kind, reason, message string) {
	e.podEvent(p, "", kind, reason, message)
}

// ContainerEvent records that something happened to the pod's container of a name.
func (e *Events) ContainerEvent(p *v1.Pod, container, kind, reason, message string) {
	e.podEvent(p, pod.FieldPath(p, container), kind, reason, message)
}

// podEvent records an event about a part of a pod, empty for all of it.
func (e *Events) podEvent(p *v1.Pod, field, kind, reason, message string) {
	about := v1.ObjectReference{
		Kind: "Pod", APIVersion: "v1", Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: p.ResourceVersion, FieldPath: field,
	}
	e.record(e.cfg.Owner(p.Namespace), about, kind, reason, message)
}

// NodeEvent records that something happened to the node.
func (e *Events) NodeEvent(kind, reason, message string) {
	// kubectl looks for events of the controllers by the node's UID, and for those of a kubelet by this one.
	about := v1.ObjectReference{Kind: "Node", APIVersion: "v1", Name: e.cfg.Node, UID: types.UID(e.cfg.Node)}
	e.record(nodeOwner, about, kind, reason, message)
}

func (e *Events) record(owner string, about v1.ObjectReference, kind, reason, message string) {
	now := e.cfg.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	all := e.owners[owner]
	if all == nil {
		all = &ownerEvents{tokens: eventBurst, refilled: now}
		e.owners[owner] = all
	}
	all.add(about, kind, reason, message, now)
	select {
	case e.wake <- struct{}{}:
	default: // the one that waits says it too
	}
}

// add adds an event, or counts it with one that it repeats.
func (o *ownerEvents) add(about v1.ObjectReference, kind, reason, message string, now time.Time) {
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
		is = &event{about: about, kind: kind, reason: reason, message: message, first: now}
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

// Run sends events until ctx is done, and then, within sendPeriod, what is left.
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

// owed reports whether an event is not at the API server.
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

// sendAll sends what owners may send now, until the API server takes none.
func (e *Events) sendAll(ctx context.Context) {
	for next := e.next(); next != nil; next = e.next() {
		if err := e.send(ctx, next); err != nil {
			e.cfg.Log.Debug("an event is not at the API server", "about", path.Join(next.about.Kind, next.about.Namespace, next.about.Name), "reason", next.reason, "err", err)
			return
		}
	}
}

// next returns a copy of an event that is owed and whose owner may send one; nil for none.
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

// send makes the object of an event, or brings it up to date.
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
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsInvalid(err):
		// Of a namespace that is going, or one that the server does not take: it will not do so later.
	case err != nil:
		return e.cfg.Client.Explain(err)
	}
	e.sent(is, name)
	return nil
}

// sent records that an event is at the API server as it was when it was sent.
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
		ObjectMeta:     metav1.ObjectMeta{Name: eventName(is), Namespace: is.namespace()},
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

// maxEventName is how much of an object's name the name of its event has: with the time it is no longer than names may be.
const maxEventName = 236

// eventName is a name that no other event has.
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
