package http

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/api"
)

// manifestOf returns the manifest of a pod with one container of this image.
func manifestOf(name, image string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n  containers:\n  - name: c\n    image: %s\n", name, image)
}

// list returns a PodList of pods with this image.
func list(image string, names ...string) string {
	items := make([]string, len(names))
	for i, name := range names {
		items[i] = fmt.Sprintf("\n- {metadata: {name: %s}, spec: {containers: [{name: c, image: %s}]}}", name, image)
	}
	if len(names) == 0 {
		items = []string{" []"}
	}
	return "apiVersion: v1\nkind: PodList\nitems:" + strings.Join(items, "") + "\n"
}

func answerWith(w nethttp.ResponseWriter, text string) { _, _ = w.Write([]byte(text)) }

// server answers with the handler that is set, and records the requests.
type server struct {
	*httptest.Server

	mu     sync.Mutex
	answer nethttp.HandlerFunc
	asked  []*nethttp.Request
}

// newServer starts a server by calling start, which may change the server before it starts it.
func newServer(t *testing.T, start func(*httptest.Server)) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		s.mu.Lock()
		answer := s.answer
		s.asked = append(s.asked, r)
		s.mu.Unlock()
		answer(w, r)
	}))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	start(s.Server)
	t.Cleanup(s.Close)
	return s
}

func plain(s *httptest.Server) { s.Start() }

// set makes the server answer with the handler f.
func (s *server) set(f nethttp.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

// setText makes the server answer with this body.
func (s *server) setText(text string) {
	s.set(func(w nethttp.ResponseWriter, _ *nethttp.Request) { answerWith(w, text) })
}

// requests returns the requests since the last call.
func (s *server) requests() []*nethttp.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// sink records deliveries as "replace" or "apply", followed by documents as "ID name image" or
// "ID fault", without the URL.
type sink struct {
	url string

	mu         sync.Mutex
	deliveries []string
	holds      map[string]string
	health     string
}

func (s *sink) render(d api.Document) string {
	id := strings.TrimPrefix(d.ID, s.url)
	if d.Err != nil {
		return id + " " + strings.TrimPrefix(d.Err.Error(), s.url)
	}
	return id + " " + strings.TrimSuffix(d.Pod.Name, "-node") + " " + d.Pod.Spec.Containers[0].Image
}

func (s *sink) take(how string, docs []api.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := []string{how}
	for _, d := range docs {
		lines = append(lines, s.render(d))
		if d.Pod != nil {
			s.holds[d.ID] = s.render(d)
		}
	}
	s.deliveries = append(s.deliveries, strings.Join(lines, "\n"))
}

func (s *sink) Replace(_ context.Context, all []api.Document) error {
	s.mu.Lock()
	named := map[string]bool{}
	for _, d := range all {
		named[d.ID] = true
	}
	maps.DeleteFunc(s.holds, func(id, _ string) bool { return !named[id] })
	s.mu.Unlock()
	s.take("replace", all)
	return nil
}

func (s *sink) Apply(_ context.Context, changed []api.Document, gone []string) error {
	s.take("apply", changed)
	if len(gone) > 0 {
		return fmt.Errorf("gone: %q", gone)
	}
	return nil
}

func (s *sink) Health(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.health = strings.ReplaceAll(fmt.Sprint(err), s.url, "URL")
}

// news returns the deliveries since the last call.
func (s *sink) news() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.deliveries
	s.deliveries = nil
	return news
}

// has returns the pods that the sink has after the last delivery.
func (s *sink) has() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Values(s.holds))
}

// reader is a source that reads only when the test calls read.
type reader struct {
	*Source
	*sink
	client *client
	log    *bytes.Buffer
}

func newReader(t *testing.T, url string, change ...func(*Config)) *reader {
	t.Helper()
	r := &reader{sink: &sink{url: url, holds: map[string]string{}}, log: &bytes.Buffer{}}
	c := Config{
		Name: "fleet", URL: url, NodeName: "node", Sink: r.sink,
		Logger: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{
			Level: slog.LevelDebug,
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey || a.Key == "source" {
					return slog.Attr{}
				}
				return a
			},
		})),
	}
	for _, f := range change {
		f(&c)
	}
	r.Source = New(c)
	r.client = newClient(&r.cfg)
	r.fetch, r.close = r.client.get, r.client.close
	t.Cleanup(r.client.close)
	return r
}

// read reads once and returns the health after it.
func (r *reader) read(t *testing.T) string {
	t.Helper()
	r.health = "not told"
	if err := r.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r.health
}

// good reads once and fails the test if the health is not good. Before the first complete
// answer, the health must say that the pods are not known.
func (r *reader) good(t *testing.T) {
	t.Helper()
	want := "<nil>"
	health := r.read(t)
	if !r.whole {
		want = "URL answers, but which pods there are is not known before a document of it can be used; mend those it has"
	}
	if health != want {
		t.Fatalf("health: %s\nwant %s", health, want)
	}
}

// says fails the test unless a text begins with want.
func says(t *testing.T, what, got, want string) {
	t.Helper()
	if !strings.HasPrefix(got, want) || want == "" && got != "" {
		t.Errorf("%s: %s\nwant %s", what, got, want)
	}
}

func same[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// eventually waits until get returns true.
func eventually(t *testing.T, what string, get func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !get(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

// file writes a file and renames it into place, as careful programs do.
func file(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func place(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	file(t, path, text)
	return path
}
