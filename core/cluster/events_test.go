package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

func TestEvents_aggregation(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	e := NewEvents(EventConfig{Owner: func(namespace string) string { return namespace }, Now: func() time.Time { return now }})
	pod := func(namespace, name string) *v1.Pod {
		p := &v1.Pod{}
		p.Namespace, p.Name, p.UID = namespace, name, types.UID(namespace+name)
		return p
	}
	web := pod("shop", "web")
	for range 3 {
		e.Event(web, v1.EventTypeWarning, "BackOff", "again")
	}
	first := e.next()
	if first == nil || first.count != 3 || first.message != "again" {
		t.Fatalf("event %+v", first)
	}
	e.sent(first, "object")
	if more := e.next(); more != nil {
		t.Errorf("sent again: %+v", more)
	}
	e.Event(web, v1.EventTypeWarning, "BackOff", "again")
	if again := e.next(); again == nil || again.name != "object" || again.count != 4 {
		t.Errorf("event %+v", again)
	}
	now = now.Add(eventWindow + time.Second)
	e.Event(web, v1.EventTypeWarning, "BackOff", "again")
	events := e.owners["shop"].events
	if last := events[len(events)-1]; last.count != 1 || last.name != "" {
		t.Errorf("after a while it is no new one: %+v", last)
	}

	for i := range maxSimilar + 5 {
		e.Event(pod("shop", "db"), v1.EventTypeWarning, "Failed", fmt.Sprint("try ", i))
	}
	similar := 0
	for _, is := range e.owners["shop"].events {
		if is.about.Name == "db" {
			similar++
			if strings.HasPrefix(is.message, "(combined") && is.count != 5 {
				t.Errorf("event %+v", is)
			}
		}
	}
	if similar != maxSimilar+1 {
		t.Errorf("%d events of one reason", similar)
	}
}

func TestEvents_containers(t *testing.T) {
	t.Parallel()
	e := NewEvents(EventConfig{Owner: func(string) string { return "" }, Now: func() time.Time { return time.Unix(1e9, 0) }})
	p := &v1.Pod{}
	p.Namespace, p.Name, p.UID = "shop", "web", "u"
	p.Spec.InitContainers = []v1.Container{{Name: "init"}}
	p.Spec.Containers = []v1.Container{{Name: "alpha"}, {Name: "beta"}}
	p.Spec.EphemeralContainers = []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "debug"}}}
	for _, container := range []string{"alpha", "beta", "alpha", "init", "debug", "unknown"} {
		e.ContainerEvent(p, container, v1.EventTypeNormal, "BackOff", "again")
	}
	e.Event(p, v1.EventTypeNormal, "BackOff", "again")
	got := map[string]int32{}
	for is := e.next(); is != nil; is = e.next() {
		got[is.about.FieldPath] += is.count
		e.sent(is, "object")
	}
	want := map[string]int32{
		"spec.containers{alpha}": 2, "spec.containers{beta}": 1, "spec.initContainers{init}": 1, "spec.ephemeralContainers{debug}": 1,
		"": 2, // events about the pod, and about a container that the pod does not have
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Events about the node are found where kubectl looks for those of a kubelet.
func TestEvents_node(t *testing.T) {
	t.Parallel()
	e := NewEvents(EventConfig{Node: "n", Owner: func(string) string { return "" }, Now: func() time.Time { return time.Unix(1e9, 0) }})
	for range 2 {
		e.NodeEvent(v1.EventTypeNormal, "NodeReady", "well")
	}
	is := e.next()
	if is == nil || is.count != 2 || is.namespace() != "default" {
		t.Fatalf("event %+v", is)
	}
	want := v1.ObjectReference{Kind: "Node", APIVersion: "v1", Name: "n", UID: "n"}
	if diff := cmp.Diff(want, is.about); diff != "" {
		t.Errorf("it is about (-want +got):\n%s", diff)
	}
	if got := e.owners[""]; got != nil {
		t.Errorf("it takes a place of a pod's: %+v", got)
	}
}

// Many events of one owner neither displace nor delay the events of another owner.
func TestEvents_shares(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	e := NewEvents(EventConfig{Owner: func(namespace string) string { return namespace }, Now: func() time.Time { return now }})
	quiet := &v1.Pod{}
	quiet.Namespace, quiet.UID = "quiet", "q"
	e.Event(quiet, v1.EventTypeNormal, "Started", "well")
	for i := range 2 * maxEvents {
		p := &v1.Pod{}
		p.Namespace, p.UID = "loud", types.UID(strconv.Itoa(i))
		e.Event(p, v1.EventTypeNormal, "Started", "well")
	}
	sent := map[string]int{}
	for next := e.next(); next != nil; next = e.next() {
		sent[next.about.Namespace]++
		e.sent(next, "x")
	}
	if sent["quiet"] != 1 || sent["loud"] != eventBurst {
		t.Errorf("sent %v", sent)
	}
	now = now.Add(3 * eventPeriod)
	for next := e.next(); next != nil; next = e.next() {
		sent[next.about.Namespace]++
		e.sent(next, "x")
	}
	if sent["loud"] != eventBurst+3 || len(e.owners["loud"].events) != maxEvents {
		t.Errorf("sent %v, %d are known", sent, len(e.owners["loud"].events))
	}
}

// Events are sent after a short delay. Repeats within the delay are sent as one event. At the end,
// all remaining events are sent.
func TestEvents_Run(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got []string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var envelope runtime.Unknown
		var is v1.Event
		if err := errors.Join(err, envelope.Unmarshal(bytes.TrimPrefix(body, []byte("k8s\x00"))), is.Unmarshal(envelope.Raw)); err != nil {
			t.Error(err)
		}
		mu.Lock()
		got = append(got, strings.TrimSpace(fmt.Sprint(is.Reason, " ", is.Count, " ", is.Annotations["starved_resource"])))
		mu.Unlock()
		answer(w, http.StatusCreated, &is)
	})
	e := NewEvents(EventConfig{
		Client: client, Owner: func(namespace string) string { return namespace }, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx) })
	web := &v1.Pod{}
	web.Namespace, web.Name, web.UID = "shop", "web", "u"
	for _, reason := range []string{"Created", "Started", "BackOff", "BackOff"} {
		e.Event(web, v1.EventTypeNormal, reason, "well")
	}
	for e.owed() {
		time.Sleep(10 * time.Millisecond)
	}
	e.AnnotatedEvent(web, map[string]string{"starved_resource": "memory"}, v1.EventTypeWarning, "Evicted", "low")
	cancel()
	running.Wait()
	if diff := cmp.Diff([]string{"Created 1", "Started 1", "BackOff 2", "Evicted 1 memory"}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// An event that the API server rejects is not sent again, and does not hold up later ones.
func TestEvents_rejected(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]bool{400: true, 403: true, 404: true, 422: true, 401: false, 408: false, 429: false, 500: false, 503: false} {
		if got := rejected(fmt.Errorf("wrapped: %w", &apierrors.StatusError{ErrStatus: metav1.Status{Code: int32(code)}})); got != want {
			t.Errorf("%d: rejected %t, want %t", code, got, want)
		}
	}
	if rejected(errors.New("connection refused")) {
		t.Error("no answer counts as a rejection")
	}
}
