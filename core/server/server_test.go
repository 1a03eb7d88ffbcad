package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/server/client"
	"github.com/wardlet/wardlet/core/status"
)

// known imitates the whole agent.
type known struct {
	pods      func() *v1.PodList
	sources   []api.SourceState
	conflicts []api.Conflict
	events    []api.Event
	changes   *status.Notifier
	metrics   http.Handler

	policies Policies
	waiting  Waiting
	updates  Updates
	foreign  Foreign
}

func (k known) PodList() *v1.PodList       { return k.pods() }
func (k known) Sources() []api.SourceState { return k.sources }
func (k known) Conflicts() []api.Conflict  { return k.conflicts }
func (k known) List() []api.Event          { return k.events }

// Listen reports changes, if the test has any.
func (k known) Listen() (changed <-chan struct{}, stop func()) {
	if k.changes == nil {
		return nil, func() {}
	}
	return k.changes.Listen()
}

func listing(names ...string) func() *v1.PodList {
	list := &v1.PodList{}
	for _, name := range names {
		list.Items = append(list.Items, v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
			Spec: v1.PodSpec{Containers: []v1.Container{{
				Name: "c", Env: []v1.EnvVar{{Name: "PASSWORD", Value: "secret"}, {Name: "EMPTY"}},
			}}},
			Status: v1.PodStatus{Phase: v1.PodRunning},
		})
	}
	return func() *v1.PodList { return list }
}

func start(t *testing.T, k known) (socket string, stop func() error) {
	t.Helper()
	socket = socketPath(t)
	l, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	return socket, serve(t, k.server(), l)
}

// server returns a server that answers with the values of k.
func (k known) server() *Server {
	return New(Options{
		Pods: k, PodChanges: k, Sources: k, Events: k, Policies: k.policies, Waiting: k.waiting, Updates: k.updates, Foreign: k.foreign,
		Version: api.NewVersion("v1.2.3"), Logger: slog.New(slog.DiscardHandler), Node: "edge", Metrics: k.metrics,
	})
}

func TestEndpointsAnswer(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	k := known{
		pods:      listing("a", "b"),
		conflicts: []api.Conflict{{Namespace: "default", Name: "web", Rule: api.RuleIsolate, Since: now, Claims: []api.Claim{{Source: "static", UID: "u", State: api.ClaimRuns}}}},
		sources:   []api.SourceState{{Name: "static", Kind: "file", Seen: true, LastRead: now, Bad: 1, Problems: []api.Problem{{Document: "x#0", Since: now}}}},
		events:    []api.Event{{First: now, Last: now, Count: 1, Reason: "Started", Name: "a"}},
	}
	socket, _ := start(t, k)
	c := client.New(socket)

	t.Run("pods", func(t *testing.T) {
		t.Parallel()
		var got v1.PodList
		if err := c.Get(t.Context(), "/v1/pods", &got); err != nil {
			t.Fatal(err)
		}
		if got.Kind != "PodList" || len(got.Items) != 2 || got.Items[1].Name != "b" || got.Items[1].Kind != "Pod" ||
			got.Items[1].Status.Phase != v1.PodRunning {
			t.Errorf("pods: %+v", got)
		}
	})
	t.Run("sources", func(t *testing.T) {
		t.Parallel()
		var got []api.SourceState
		if err := c.Get(t.Context(), "/v1/sources", &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(k.sources, got); diff != "" {
			t.Errorf("sources (-want +got):\n%s", diff)
		}
	})
	t.Run("conflicts", func(t *testing.T) {
		t.Parallel()
		var got []api.Conflict
		if err := c.Get(t.Context(), "/v1/conflicts", &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(k.conflicts, got); diff != "" {
			t.Errorf("conflicts (-want +got):\n%s", diff)
		}
	})
	t.Run("events", func(t *testing.T) {
		t.Parallel()
		var got []api.Event
		if err := c.Get(t.Context(), "/v1/events", &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(k.events, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
	t.Run("version", func(t *testing.T) {
		t.Parallel()
		var got api.Version
		if err := c.Get(t.Context(), "/v1/version", &got); err != nil {
			t.Fatal(err)
		}
		if got != api.NewVersion("v1.2.3") || got.Version != "v1.2.3" || !strings.HasPrefix(got.Go, "go1.") {
			t.Errorf("version: %+v", got)
		}
	})
	t.Run("anything else is refused", func(t *testing.T) {
		t.Parallel()
		err := c.Get(t.Context(), "/v1/none", nil)
		want := "the agent at " + socket + " refused: this agent does not know GET /v1/none"
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	})
}

func TestValuesOfTheEnvironmentAreShownOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	pods := listing("a")
	pods().Items[0].Spec.InitContainers = []v1.Container{{Env: []v1.EnvVar{{Name: "I", Value: "secret"}}}}
	pods().Items[0].Spec.EphemeralContainers = []v1.EphemeralContainer{{
		EphemeralContainerCommon: v1.EphemeralContainerCommon{Env: []v1.EnvVar{{Name: "E", Value: "secret"}}},
	}}
	before := pods().DeepCopy()
	socket, _ := start(t, known{pods: pods})
	c := client.New(socket)
	for path, want := range map[string]string{"/v1/pods": pod.RedactedValue, "/v1/pods?env=show": "secret"} {
		var got v1.PodList
		if err := c.Get(t.Context(), path, &got); err != nil {
			t.Fatal(err)
		}
		spec := got.Items[0].Spec
		values := []string{
			spec.Containers[0].Env[0].Value, spec.InitContainers[0].Env[0].Value, spec.EphemeralContainers[0].Env[0].Value,
		}
		if diff := cmp.Diff([]string{want, want, want}, values); diff != "" {
			t.Errorf("%s: values (-want +got):\n%s", path, diff)
		}
		if empty := spec.Containers[0].Env[1].Value; empty != "" {
			t.Errorf("%s: an empty value became %q", path, empty)
		}
	}
	if diff := cmp.Diff(before, pods()); diff != "" {
		t.Errorf("the agent's own pods changed:\n%s", diff)
	}
}

func TestServeEndsWithItsContextAndRemovesTheSocket(t *testing.T) {
	t.Parallel()
	socket, stop := start(t, known{pods: listing()})
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if err := client.New(socket).Get(t.Context(), "/v1/pods", nil); err == nil {
		t.Error("the socket still answers")
	}
	l, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestServeWaitsForAnAnswerUnderWay(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}), make(chan struct{})
	socket, stop := start(t, known{pods: func() *v1.PodList {
		close(asked)
		<-release
		return listing("late")()
	}})
	answered := make(chan error, 1)
	var got v1.PodList
	go func() { answered <- client.New(socket).Get(t.Context(), "/v1/pods", &got) }()
	<-asked
	time.AfterFunc(100*time.Millisecond, func() { close(release) })
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if err := <-answered; err != nil || len(got.Items) != 1 {
		t.Errorf("answer under way: %v, %d pods", err, len(got.Items))
	}
}

func TestServeDoesNotWaitForAnAnswerThatHangs(t *testing.T) {
	t.Parallel()
	asked, release := make(chan struct{}), make(chan struct{})
	socket, stop := start(t, known{pods: func() *v1.PodList {
		close(asked)
		<-release
		return listing()()
	}})
	answered := make(chan error, 1)
	go func() { answered <- client.New(socket).Get(t.Context(), "/v1/pods", nil) }()
	<-asked
	began := time.Now()
	if err := stop(); err != nil {
		t.Errorf("Serve: %v", err)
	}
	if took := time.Since(began); took < shutdownTimeout || took > shutdownTimeout+5*time.Second {
		t.Errorf("Serve took %s to end, want about %s", took, shutdownTimeout)
	}
	if <-answered == nil {
		t.Error("the answer that hung arrived")
	}
	close(release)
}

func TestServeReportsABrokenListener(t *testing.T) {
	t.Parallel()
	l, err := Listen(socketPath(t))
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	s := New(Options{Logger: slog.New(slog.DiscardHandler)})
	if err := s.Serve(t.Context(), l); err == nil || !strings.Contains(err.Error(), "use of closed network connection") {
		t.Errorf("error %v, want that of the listener", err)
	}
}

func TestOnlyTheOwnerMayAsk(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		peer any
		want int
	}{
		"root may":                          {peer{uid: 0}, http.StatusOK},
		"the agent's own user may":          {peer{uid: 1000}, http.StatusOK},
		"another user may not":              {peer{uid: 1001}, http.StatusForbidden},
		"one the kernel does not name, not": {peer{err: net.ErrClosed}, http.StatusForbidden},
		"one nobody asked the kernel, nor":  {nil, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
			ctx := context.WithValue(t.Context(), peerKey{}, test.peer)
			answer := httptest.NewRecorder()
			ownerOnly(1000, inner).ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody))
			if answer.Code != test.want {
				t.Errorf("status %d, want %d", answer.Code, test.want)
			}
		})
	}
}

func TestPeerIsWhoConnected(t *testing.T) {
	t.Parallel()
	l, err := Listen(socketPath(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if p := peerOf(accepted); p.err != nil || int(p.uid) != os.Geteuid() {
		t.Errorf("peer %+v, want user %d", p, os.Geteuid())
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if p := peerOf(a); p.err == nil {
		t.Error("a pipe has a peer")
	}
}

func TestMetricsAreAnsweredWhereThereAreAny(t *testing.T) {
	t.Parallel()
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for name, test := range map[string]struct {
		metrics http.Handler
		want    int
	}{"some": {metrics, http.StatusTeapot}, "none": {nil, http.StatusNotFound}} {
		answer := httptest.NewRecorder()
		known{metrics: test.metrics}.server().mux.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		if answer.Code != test.want {
			t.Errorf("%s: status %d, want %d", name, answer.Code, test.want)
		}
	}
}

func TestEventsAreThoseOfThePodThatWasAskedFor(t *testing.T) {
	t.Parallel()
	socket, _ := start(t, known{events: []api.Event{
		{Namespace: "shop", Name: "web-edge", Reason: "A"}, {Namespace: "shop", Name: "db", Reason: "B"}, {Namespace: "other", Name: "web", Reason: "C"},
	}})
	for path, want := range map[string]string{
		"": "ABC", "?namespace=shop": "AB", "?name=web": "AC", "?name=web-edge": "A", "?name=web&namespace=other": "C", "?namespace=none": "",
	} {
		var got []api.Event
		if err := client.New(socket).Get(t.Context(), "/v1/events"+path, &got); err != nil {
			t.Fatal(err)
		}
		var reasons strings.Builder
		for _, e := range got {
			reasons.WriteString(e.Reason)
		}
		if reasons.String() != want || got == nil {
			t.Errorf("%q: events %q, want %q", path, reasons.String(), want)
		}
	}
}
