package mux

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheFirstSnapshotOfASourceIsNamedEvenWhenItIsEmpty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := start(t)
		sink := mustSink(t, m, "one")
		for range 2 {
			if err := sink.Replace(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := sink.Apply(t.Context(), docs(good("a#0", "web", "u1")), nil); err != nil {
			t.Fatal(err)
		}
		first, second := <-m.Updates(), <-m.Updates()
		if diff := cmp.Diff(api.Update{Seq: 1, Seen: []string{"one"}}, first, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("first update (-want +got):\n%s", diff)
		}
		if second.Seq != 2 || len(second.Seen) != 0 || len(second.Changes) != 1 || second.Changes[0].Seq != 1 {
			t.Errorf("second update = %+v, want number 2 with one change and no source", second)
		}
	})
}

func TestASlowSyncLoopHoldsTheSourcesUpAndLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := start(t)
		sink := mustSink(t, m, "one")
		delivered := 0
		const all = 2 * updatesCapacity
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range all {
				uid := string(rune('a'+i%26)) + string(rune('a'+i/26))
				if err := sink.Apply(t.Context(), docs(good(uid+"#0", uid, types.UID("u"+uid))), nil); err != nil {
					t.Error(err)
					return
				}
				delivered++
			}
		}()
		synctest.Wait()
		if delivered != updatesCapacity {
			t.Errorf("%d deliveries were taken while nobody read, want %d", delivered, updatesCapacity)
		}
		for range all {
			<-m.Updates()
		}
		<-done
	})
}

func TestADeliveryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	m := New(Config{Sources: []Source{{Name: "one"}}, Documents: newDisk(), Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := mustSink(t, m, "one").Replace(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Replace = %v, want it cancelled", err)
	}
}

func TestAnUnknownSourceGetsNoSink(t *testing.T) {
	t.Parallel()
	m := New(Config{})
	if _, err := m.Sink("nobody"); err == nil {
		t.Error("a source that is not configured got a sink")
	}
}

func TestDesiredIsWhatTheSyncLoopHasOrIsAboutToGet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := start(t)
		sink := mustSink(t, m, "one")
		if m.Seen("one") || m.Wanted("u1") {
			t.Error("an agent that has read nothing wants something")
		}
		if !m.Seen("removed-from-agent-toml") {
			t.Error("a source that is not configured holds its pods for ever")
		}
		if err := sink.Replace(t.Context(), docs(good("a#0", "web", "u1"))); err != nil {
			t.Fatal(err)
		}
		if !m.Seen("one") || !m.Wanted("u1") {
			t.Error("a delivered pod is not wanted")
		}
		if err := sink.Apply(t.Context(), docs(bad("a#0")), nil); err != nil {
			t.Fatal(err)
		}
		if !m.Wanted("u1") {
			t.Error("a pod whose document became invalid is not wanted")
		}
		if err := sink.Replace(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if m.Wanted("u1") {
			t.Error("a removed pod is wanted")
		}
	})
}

func TestSourcesTellWhatIsWrong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := start(t)
		one, two := mustSink(t, m, "one"), mustSink(t, m, "two")
		deliver := func(s *Sink, d ...api.Document) {
			t.Helper()
			if err := s.Replace(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
		deliver(one, good("a#0", "web", "u1"), good("b#0", "web", "u2"))
		deliver(one, bad("a#0"), good("b#0", "web", "u2"), bad("c#0"))
		deliver(two, good("x#0", "db", "u1"))
		two.Health(errors.New("directory is gone"))

		now := time.Now()
		want := []api.SourceState{
			{
				Name: "one", Kind: "file", Location: "/one", Seen: true, LastRead: now, Documents: 3, Bad: 3,
				Problems: []api.Problem{
					{Document: "a#0", Message: "a:3: broken", Since: now, Kept: true, Running: true},
					{Document: "b#0", Message: "b#0: default/web is already defined by a#0, which was first; remove or rename one of them", Since: now, Namespace: "default", Name: "web"},
					{Document: "c#0", Message: "c:3: broken", Since: now},
				},
			},
			{
				Name: "two", Kind: "file", Location: "/two", Seen: true, LastRead: now, Documents: 1, Bad: 1,
				Err: "directory is gone",
				Problems: []api.Problem{{
					Document: "x#0",
					Message:  `x#0: uid u1 is already that of default/web from source "one"; give one of them another metadata.uid`,
					Since:    now, Namespace: "default", Name: "db",
				}},
			},
		}
		if diff := cmp.Diff(want, m.Sources()); diff != "" {
			t.Errorf("sources (-want +got):\n%s", diff)
		}
	})
}

// start runs a mux of two sources until the test ends. Its updates are not
// read.
func start(t *testing.T) *Mux {
	t.Helper()
	return startOn(t, newDisk())
}

// startOn is start with a disk that another mux may have written.
func startOn(t *testing.T, documents Documents) *Mux {
	t.Helper()
	m := New(Config{
		Sources:   []Source{{Name: "one", Kind: "file", Location: "/one"}, {Name: "two", Kind: "file", Location: "/two"}},
		Documents: documents, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want it cancelled", err)
		}
		for range m.Updates() {
			continue // the channel is closed when Run has returned
		}
	})
	return m
}

func mustSink(t *testing.T, m *Mux, name string) *Sink {
	t.Helper()
	s, err := m.Sink(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
