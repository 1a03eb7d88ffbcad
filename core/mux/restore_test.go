package mux

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// disk is a Documents in memory.
type disk struct {
	mu      sync.Mutex
	records map[state.DocumentID]state.Record
	full    error
	// puts are the IDs of the written records, in order.
	puts []string
}

func newDisk() *disk { return &disk{records: map[state.DocumentID]state.Record{}} }

func (d *disk) fill(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = err
}

func (d *disk) Apply(put []state.Record, remove []state.DocumentID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full != nil {
		return d.full
	}
	for i := range put {
		r := &put[i]
		d.puts = append(d.puts, r.ID)
		d.records[state.DocumentID{Source: r.Source, ID: r.ID}] = *r
	}
	for _, id := range remove {
		delete(d.records, id)
	}
	return nil
}

// of returns the record of a document.
func (d *disk) of(source, id string) state.Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.records[state.DocumentID{Source: source, ID: id}]
}

func (d *disk) LoadAll() ([]state.Record, []error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.records)), nil
}

func TestARestartBeginsWithTheLastValidVersions(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		before []api.Document // each is one snapshot of source "one"
		broken []api.Document // a later snapshot with faults
		after  []api.Document
		want   []string
	}{
		"an unchanged document is restored and confirmed": {
			before: docs(good("a#0", "web", "u1")), after: docs(good("a#0", "web", "u1")),
			want: ops("RESTORE u1"),
		},
		"a document that is gone is restored and then removed": {
			before: docs(good("a#0", "web", "u1")),
			want:   ops("RESTORE u1", "REMOVE u1"),
		},
		"a document that changed meanwhile is restored and then updated": {
			before: docs(good("a#0", "web", "u1")), after: docs(good("a#0", "web", "u1", image("web:2"))),
			want: ops("RESTORE u1", "UPDATE u1"),
		},
		"a document that is broken keeps its last valid version": {
			before: docs(good("a#0", "web", "u1")), broken: docs(bad("a#0")), after: docs(bad("a#0")),
			want: ops("RESTORE u1"),
		},
		"a newer agent's defaults come as an update": {
			before: docs(good("a#0", "web", "u1")), after: docs(sameVersion(good("a#0", "web", "u1"), image("web:1@defaulted"))),
			want: ops("RESTORE u1", "UPDATE u1"),
		},
		"of two documents the one that ran runs again": {
			before: docs(good("b#0", "web", "ub")), broken: docs(good("a#0", "web", "ua"), good("b#0", "web", "ub")),
			after: docs(good("a#0", "web", "ua"), good("b#0", "web", "ub")),
			want:  ops("RESTORE ub"),
		},
		"a file that cannot be split any more moves none of its pods": {
			before: docs(good("a#0", "web", "u1"), good("a#1", "db", "u2")), after: docs(good("a#0", "db", "u2"), bad("a#*")),
			want: ops("RESTORE u1", "RESTORE u2"),
		},
		"a document that became a mirror pod is not restored": {
			before: docs(good("a#0", "web", "u1")), broken: docs(good("a#0", "web", "u4", mirror)), after: docs(good("a#0", "web", "u4", mirror)),
			want: ops("ADD u4"),
		},
		"a replaced document is restored in its newest version": {
			before: docs(good("a#0", "web", "u1")), broken: docs(good("a#0", "web", "u2")), after: docs(good("a#0", "web", "u2")),
			want: ops("RESTORE u2"),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDisk()
				first := startOn(t, d)
				sink := mustSink(t, first, "one")
				for _, snapshot := range [][]api.Document{tc.before, tc.broken} {
					if snapshot == nil {
						continue
					}
					if err := sink.Replace(t.Context(), snapshot); err != nil {
						t.Fatal(err)
					}
				}
				second := startOn(t, d)
				if second.Seen("one") {
					t.Error("a source that only the disk speaks for counts as seen")
				}
				if err := mustSink(t, second, "one").Replace(t.Context(), tc.after); err != nil {
					t.Fatal(err)
				}
				var got []string
				for len(second.Updates()) > 0 {
					for _, c := range (<-second.Updates()).Changes {
						got = append(got, string(c.Op)+" "+string(c.Pod().UID))
					}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("operations after the restart (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestWhatTheDiskDidNotTakeIsWrittenLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		m := startOn(t, d)
		sink := mustSink(t, m, "one")
		if err := sink.Replace(t.Context(), docs(good("a#0", "web", "u1"), good("b#0", "db", "u2"))); err != nil {
			t.Fatal(err)
		}
		d.fill(errors.New("no space left on device"))
		if err := sink.Replace(t.Context(), docs(good("a#0", "web", "u1", image("web:2")), good("c#0", "shop", "u3"))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * writeRetryDelay)
		d.fill(nil)
		time.Sleep(writeRetryDelay + time.Second)
		synctest.Wait()
		if p := d.of("one", "a#0").Pod; p == nil || p.Spec.Containers[0].Image != "web:2" {
			t.Errorf("a changed document is stored as %v, want its newest version", p)
		}
		if d.of("one", "c#0").Pod == nil || d.of("one", "b#0").Pod != nil {
			t.Error("a new document is not stored, or one that is gone still is")
		}
		puts := len(d.puts)
		time.Sleep(5 * writeRetryDelay)
		if len(d.puts) != puts {
			t.Error("what was written is written again and again")
		}
	})
}

func TestASourceThatIsTakenOutLeavesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		if err := d.Apply([]state.Record{{Source: "former", ID: "a#0", Pod: good("a#0", "web", "u1").Pod, Runs: true}}, nil); err != nil {
			t.Fatal(err)
		}
		m := startOn(t, d)
		synctest.Wait()
		if len(m.Updates()) != 0 || m.Wanted("u1") {
			t.Error("a pod of a source that is not configured is wanted")
		}
		if d.of("former", "a#0").Pod != nil {
			t.Error("a document of a source that is not configured is still on the disk")
		}
	})
}

func TestABadDocumentOfAnAPIServerSpeaksForItselfAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := startOn(t, newDisk())
		sink := mustSink(t, m, "one")
		if err := sink.Replace(t.Context(), docs(bad("default/web"), good("default/web.1", "web.1", "u1"))); err != nil {
			t.Fatal(err)
		}
		if err := sink.Replace(t.Context(), docs(bad("default/web"))); err != nil {
			t.Fatal(err)
		}
		if m.Wanted("u1") {
			t.Error("a pod that a good answer lacks is wanted because another one's name begins its own")
		}
	})
}

func mirror(p *v1.Pod) { p.Annotations[pod.AnnotationMirror] = "x" }

func TestARestoredPodIsMarkedUntilItsSourceHasSpoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		first := startOn(t, d)
		begun := time.Now()
		if err := mustSink(t, first, "one").Replace(t.Context(), docs(good("a#0", "web", "u1"))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		second := startOn(t, d)
		restored := (<-second.Updates()).Changes[0]
		if !restored.Restored || !restored.Origin.FirstSeen.Equal(begun) {
			t.Errorf("restored %t, first seen %s; want true and %s", restored.Restored, restored.Origin.FirstSeen, begun)
		}
		if err := mustSink(t, second, "one").Replace(t.Context(), docs(good("a#0", "web", "u1", image("x")))); err != nil {
			t.Fatal(err)
		}
		if changed := (<-second.Updates()).Changes[0]; changed.Restored {
			t.Error("a pod is still marked after its source has spoken")
		}
	})
}

func TestTheDiskIsWrittenBeforeThePodIsSentAndOnlyWhenItChanged(t *testing.T) {
	t.Parallel()
	d := newDisk()
	m := New(Config{Sources: []Source{{Name: "one"}}, Documents: d, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	snapshot := docs(good("a#0", "web", "u1"), good("b#0", "db", "u2"), bad("c#0"))
	for range 2 {
		if err := m.take(t.Context(), delivery{source: "one", snapshot: true, docs: snapshot}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a#0", "b#0"}, d.puts); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if err := m.take(t.Context(), delivery{source: "one", gone: []string{"a#0"}}); err != nil {
		t.Fatal(err)
	}
	if len(d.records) != 1 || d.of("one", "b#0").Pod == nil {
		t.Errorf("records %v, want that of b#0 alone", d.records)
	}
}

func TestAFullDiskStopsNoPod(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		d.full = errors.New("no space left on device")
		m := startOn(t, d)
		sink := mustSink(t, m, "one")
		for _, snapshot := range [][]api.Document{docs(good("a#0", "web", "u1")), nil} {
			if err := sink.Replace(t.Context(), snapshot); err != nil {
				t.Fatal(err)
			}
		}
		if got := []api.Op{(<-m.Updates()).Changes[0].Op, (<-m.Updates()).Changes[0].Op}; !slices.Equal(got, []api.Op{api.Add, api.Remove}) {
			t.Errorf("operations = %v", got)
		}
	})
}

// sameVersion returns d with an edited pod and the same version: another agent may read the
// same bytes differently.
func sameVersion(d api.Document, edit func(*v1.Pod)) api.Document {
	d.Pod = d.Pod.DeepCopy()
	edit(d.Pod)
	return d
}
