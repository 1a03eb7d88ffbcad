package file

import (
	"context"
	"fmt"
	"maps"
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

// slow is a settle time that no test waits for. A file that is read sooner was read at once.
const slow = time.Minute

// manifestOf returns the manifest of a pod with one container of this image.
func manifestOf(name, image string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec:\n  containers:\n  - name: c\n    image: %s\n", name, image)
}

// delivery is one call of the sink. Documents have the form "ID name image" or "ID fault", with
// the ID relative to the directory.
type delivery struct {
	Replace       bool
	Changed, Gone []string
}

// sink records the deliveries and health of a source.
type sink struct {
	dir string

	mu         sync.Mutex
	deliveries []delivery
	holds      map[string]string
	health     []string
}

func (s *sink) render(d api.Document) string {
	id := strings.TrimPrefix(d.ID, s.dir+"/")
	if d.Err != nil {
		return id + " " + strings.ReplaceAll(d.Err.Error(), s.dir+"/", "")
	}
	return id + " " + strings.TrimSuffix(d.Pod.Name, "-node") + " " + d.Pod.Spec.Containers[0].Image
}

func (s *sink) take(replace bool, docs []api.Document, gone []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if replace {
		clear(s.holds)
	}
	d := delivery{Replace: replace}
	held := map[string]bool{}
	for _, doc := range docs {
		path, _ := api.ManifestOf(doc.ID)
		held[path] = held[path] || doc.Holds()
	}
	// A delivery replaces all documents of a manifest, unless the manifest is held.
	for path, held := range held {
		if !held {
			s.forget(path)
		}
	}
	for _, doc := range docs {
		text := s.render(doc)
		d.Changed = append(d.Changed, text)
		s.holds[doc.ID] = text
	}
	for _, path := range gone {
		d.Gone = append(d.Gone, strings.TrimPrefix(path, s.dir+"/"))
		s.forget(path)
	}
	s.deliveries = append(s.deliveries, d)
}

// forget removes all documents of a manifest.
func (s *sink) forget(path string) {
	maps.DeleteFunc(s.holds, func(id, _ string) bool {
		of, _ := api.ManifestOf(id)
		return of == path
	})
}

func (s *sink) Replace(_ context.Context, all []api.Document) error {
	s.take(true, all, nil)
	return nil
}

func (s *sink) Apply(_ context.Context, changed []api.Document, gone []string) error {
	s.take(false, changed, gone)
	return nil
}

func (s *sink) Health(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.ReplaceAll(fmt.Sprint(err), s.dir, "DIR")
	if len(s.health) == 0 || s.health[len(s.health)-1] != text {
		s.health = append(s.health, text)
	}
}

// has returns the documents that the sink has after the last delivery.
func (s *sink) has() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Values(s.holds))
}

func (s *sink) all() []delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deliveries)
}

func (s *sink) healths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.health)
}

// eventually waits until get returns want.
func eventually[T any](t *testing.T, want T, get func() T) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		diff := cmp.Diff(want, get(), cmpEmpty)
		if diff == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 10 s (-want +got):\n%s", diff)
		}
		time.Sleep(time.Millisecond)
	}
}

// newSource returns a source for a directory, and its sink.
func newSource(dir string, settle time.Duration, change ...func(*Config)) (*Source, *sink) {
	k := &sink{dir: dir, holds: map[string]string{}}
	c := Config{Name: "local", Path: dir, NodeName: "node", Sink: k, Period: time.Hour, Settle: settle}
	for _, f := range change {
		f(&c)
	}
	return New(c), k
}

// started returns a source that has read the directory and watches it. Its settle time is slow
// from now on.
func started(t *testing.T, dir string, change ...func(*Config)) (*Source, *sink) {
	t.Helper()
	time.Sleep(5 * time.Millisecond)
	s, k := newSource(dir, time.Millisecond, change...)
	s.next = s.cfg.Now().Add(s.cfg.Period)
	t.Cleanup(s.stopWatching)
	// The kernel frees the inotify instances of other tests with some delay.
	eventually(t, true, func() bool {
		s.watch.retry = time.Time{}
		s.keepWatching()
		return s.watch.watching()
	})
	must(t, s.look(t.Context()))
	if len(k.all()) != 1 {
		t.Fatalf("deliveries at the start: %v", k.all())
	}
	s.cfg.Settle = slow
	return s, k
}

// run runs a source until the test ends, and waits for its first snapshot.
func run(t *testing.T, s *Source, k *sink) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	if k != nil {
		eventually(t, true, func() bool { return len(k.all()) > 0 })
	}
}

// takeEvents makes the source process all pending events, as it does before each look.
func takeEvents(t *testing.T, s *Source) {
	t.Helper()
	if !s.caughtUp() {
		t.Fatal("the events did not come")
	}
	clear(s.late)
}

// listAll lists and looks at all files, for tests without events.
func (s *Source) listAll(ctx context.Context) error {
	s.relist = true
	return s.look(ctx)
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	must(tb, os.WriteFile(path, []byte(text), 0o600))
}

// replace writes a file and renames it into place, as careful programs do.
func replace(tb testing.TB, path, text string) {
	tb.Helper()
	temp := filepath.Join(filepath.Dir(path), ".new")
	write(tb, temp, text)
	must(tb, os.Rename(temp, path))
}

// cmpEmpty treats a nil slice or map as equal to an empty one.
var cmpEmpty = cmpopts.EquateEmpty()

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
