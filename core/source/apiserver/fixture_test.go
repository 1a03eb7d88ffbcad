package apiserver

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/kube"
	"github.com/wardlet/wardlet/core/pod"
)

// sink records deliveries as text: "=" and the IDs of a snapshot, or "+ID" and "-ID" for each
// change of a difference.
type sink struct {
	t    *testing.T
	busy atomic.Bool
	// fail is the error that each delivery returns, nil for none.
	fail error

	mu sync.Mutex
	// hold blocks every delivery until the channel is closed; nil blocks nothing.
	hold       chan struct{}
	holds      map[string]string
	deliveries []string
	health     []string
}

func render(d api.Document) string {
	if d.Err != nil {
		return d.ID + " BAD " + d.Err.Err.Error()
	}
	text := d.ID + " " + d.Pod.Spec.Containers[0].Image
	if d.Pod.DeletionTimestamp != nil {
		text += " ending"
	}
	return text
}

// enter fails the test if two goroutines call the sink at once.
func (s *sink) enter(ctx context.Context) error {
	if !s.busy.CompareAndSwap(false, true) {
		s.t.Error("two goroutines call the sink at once")
	}
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.fail
}

func (s *sink) Replace(ctx context.Context, all []api.Document) error {
	defer s.busy.Store(false)
	if err := s.enter(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.holds)
	var words []string
	for _, d := range all {
		s.holds[d.ID] = render(d)
		words = append(words, d.ID)
	}
	slices.Sort(words)
	s.deliveries = append(s.deliveries, strings.Join(append([]string{"="}, words...), " "))
	return nil
}

func (s *sink) Apply(ctx context.Context, changed []api.Document, gone []string) error {
	defer s.busy.Store(false)
	if err := s.enter(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var words []string
	for _, d := range changed {
		s.holds[d.ID] = render(d)
		words = append(words, "+"+d.ID)
	}
	for _, id := range gone {
		delete(s.holds, id)
		words = append(words, "-"+id)
	}
	s.deliveries = append(s.deliveries, strings.Join(words, " "))
	return nil
}

func (s *sink) Health(err error) {
	if !s.busy.CompareAndSwap(false, true) {
		s.t.Error("two goroutines call the sink at once")
	}
	defer s.busy.Store(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := fmt.Sprint(err); len(s.health) == 0 || s.health[len(s.health)-1] != text {
		s.health = append(s.health, text)
	}
}

// block blocks all deliveries until release is called.
func (s *sink) block() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hold := make(chan struct{})
	s.hold = hold
	return func() { close(hold) }
}

// has returns the documents that the sink has after the last delivery.
func (s *sink) has() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Values(s.holds))
}

func (s *sink) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deliveries)
}

func (s *sink) lastHealth() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.health) == 0 {
		return ""
	}
	return s.health[len(s.health)-1]
}

// eventually waits until get returns want.
func eventually[T any](t *testing.T, want T, get func() T) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		diff := cmp.Diff(want, get(), cmpopts.EquateEmpty())
		if diff == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 20 s (-want +got):\n%s", diff)
		}
		time.Sleep(time.Millisecond)
	}
}

// fixture is a source with its server and its sink.
type fixture struct {
	*fakeServer
	sink   *sink
	source *Source
}

func plain(s *httptest.Server) { s.Start() }

// newFixture returns a source for a new server that has these pods.
func newFixture(t *testing.T, pods ...string) fixture {
	t.Helper()
	f := fixture{fakeServer: newFakeServer(t, plain)}
	for _, name := range pods {
		f.set(name, "img:1")
	}
	f.sink, f.source = newSource(t, kube.Config{Server: f.URL}, Config{})
	return f
}

// newSource returns a source with a short backoff, and its sink.
func newSource(t *testing.T, server kube.Config, c Config) (*sink, *Source) {
	t.Helper()
	server.MaxAnswer, server.MaxEvent, server.Logger = 1<<20, 1<<20, c.Logger
	client, err := kube.New(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	k := &sink{t: t, holds: map[string]string{}}
	c.Name, c.NodeName, c.Sink, c.Client, c.MaxBackoff = "api", testNode, k, client, 20*time.Millisecond
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return k, s
}

// run runs a source until the test ends or stop is called. It checks that Run then returns nil
// within 10 seconds.
func run(t *testing.T, s *Source) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Run did not end within 10 s")
		}
	})
	t.Cleanup(stop)
	return stop
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}

// probe is a sink that sends all fields of the documents of a snapshot to docs.
type probe struct {
	*sink
	docs chan<- []string
}

func (p *probe) Replace(_ context.Context, all []api.Document) error {
	var words []string
	for _, d := range all {
		words = append(words, fmt.Sprintf("source=%s id=%s version=%s uid=%s kind=%s managed=%d config.source=%s", d.Source, d.ID,
			d.Version, d.Pod.UID, d.Pod.Kind, len(d.Pod.ManagedFields), d.Pod.Annotations[pod.AnnotationSource]))
	}
	p.docs <- words
	return nil
}

// logs are the log messages of a source, without those at the debug level.
type logs struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logs) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
