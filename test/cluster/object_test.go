//go:build e2e

package cluster

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/object"
)

// TestObjects: a node reads only the objects that its pods name, receives their changes, and gets
// tokens for its pods.
func TestObjects(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	var changes atomic.Int32
	plane := object.New(object.Config{Client: r.client(t), Changed: func(types.UID) { changes.Add(1) }, Logger: r.log(t), Now: time.Now})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { plane.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })

	maps := "/api/v1/namespaces/" + r.space + "/configmaps"
	ca := &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt"}, Data: map[string]string{"ca.crt": "one"}}
	r.do(t, http.MethodPost, maps, ca, nil)
	r.add(t, "web", func(p *v1.Pod) { p.Spec.AutomountServiceAccountToken = nil })
	p := r.listed(t)[r.space+"/web"]

	has := func() string {
		m, err := plane.ConfigMap(t.Context(), p, "kube-root-ca.crt")
		if err != nil {
			return err.Error()
		}
		return m.Data["ca.crt"]
	}
	eventually(t, "one", has)
	before := changes.Load()
	r.do(t, http.MethodPatch, maps+"/kube-root-ca.crt", map[string]any{"data": map[string]string{"ca.crt": "two"}}, nil)
	eventually(t, "two", has)
	if changes.Load() == before {
		t.Error("nobody was told of the change")
	}
	r.do(t, http.MethodDelete, maps+"/kube-root-ca.crt", nil, nil)
	eventually(t, true, func() bool {
		_, err := plane.ConfigMap(t.Context(), p, "kube-root-ca.crt")
		return apierrors.IsNotFound(err)
	})
	if _, err := plane.ConfigMap(t.Context(), p, "others"); err == nil || apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "others is not known yet") {
		t.Errorf("what no pod names: %v", err)
	}

	token, err := plane.Token(t.Context(), p, &v1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(int64(3607))})
	must(t, err)
	parts := strings.Split(token, ".")
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	must(t, err)
	if !strings.Contains(string(claims), `"uid":"`+string(p.UID)+`"`) {
		t.Errorf("the token is not bound to the pod: %s", claims)
	}
	again, err := plane.Token(t.Context(), p, &v1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(int64(3607))})
	if err != nil || again != token {
		t.Errorf("a token that is new is asked for again: %v", err)
	}
	plane.Release(p.UID)
	if other, err := plane.Token(t.Context(), p, &v1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(int64(3607))}); err != nil || other == token {
		t.Errorf("the token of a pod that is gone is kept: %v", err)
	}
}

// TestObjects_runtimeClass: the node sees a class that is created later, the new handler of a class
// that was made anew, and the deletion of a class.
func TestObjects_runtimeClass(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	var changes atomic.Int32
	plane := object.New(object.Config{Client: r.client(t), Changed: func(types.UID) { changes.Add(1) }, Logger: r.log(t), Now: time.Now})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { plane.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })

	const classes = "/apis/node.k8s.io/v1/runtimeclasses"
	name := r.space
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: r.space, Name: "web", UID: "u"}}
	has := func() string {
		class, err := plane.RuntimeClass(t.Context(), p, name)
		switch {
		case apierrors.IsNotFound(err):
			return "none"
		case err != nil:
			return err.Error()
		}
		return class.Handler
	}
	be := func(handler string) {
		t.Helper()
		before := changes.Load()
		r.do(t, http.MethodPost, classes, &nodev1.RuntimeClass{
			TypeMeta: metav1.TypeMeta{APIVersion: "node.k8s.io/v1", Kind: "RuntimeClass"}, ObjectMeta: metav1.ObjectMeta{Name: name}, Handler: handler,
		}, nil)
		eventually(t, handler, has)
		if changes.Load() == before {
			t.Errorf("handler %s: the pod is not woken", handler)
		}
	}
	remove := func() {
		t.Helper()
		r.do(t, http.MethodDelete, classes+"/"+name, nil, nil)
		eventually(t, "none", has)
	}
	eventually(t, "none", has)
	be("one")
	remove()
	be("two") // a handler can be changed only by making the class anew
	plane.Release(p.UID)
	remove()
}

// TestEvents: the server has the events. An event that happens again is the same event with a
// higher count, and an event about a container is another one.
func TestEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t, shared(t))
	events := newEvents(t, r)
	r.add(t, "web")
	p := r.listed(t)[r.space+"/web"]
	list := func() *v1.EventList {
		l := &v1.EventList{}
		r.do(t, http.MethodGet, "/api/v1/namespaces/"+r.space+"/events", nil, l)
		return l
	}
	events.Event(p, v1.EventTypeWarning, "BackOff", "again")
	eventually(t, 1, func() int { return len(list().Items) })
	events.Event(p, v1.EventTypeWarning, "BackOff", "again")
	eventually(t, int32(2), func() int32 { return list().Items[0].Count })
	events.ContainerEvent(p, "c", v1.EventTypeWarning, "BackOff", "again")
	eventually(t, 2, func() int { return len(list().Items) })
	items := list().Items
	slices.SortFunc(items, func(a, b v1.Event) int {
		return strings.Compare(a.InvolvedObject.FieldPath, b.InvolvedObject.FieldPath)
	})
	if got := items[1].InvolvedObject.FieldPath; got != "spec.containers{c}" {
		t.Errorf("the container's event is about %q", got)
	}
	if e := items[0]; e.InvolvedObject.UID != p.UID || e.Source.Host != r.node || e.Message != "again" || e.Type != v1.EventTypeWarning {
		t.Errorf("event %+v", e)
	}
}
