package mux

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

// suppress starts a mux that hands on the old documents and whose filter holds back the newer
// ones.
func suppress(t *testing.T, j *judge, d *disk, old, newer []api.Document) *gated {
	t.Helper()
	f := newSieve(passes)
	g := startFiltered(t, d, j, f)
	g.deliver("one", old...)
	g.got()
	f.turn(drops)
	g.deliver("one", newer...)
	if got := g.got(); got != nil {
		t.Errorf("operations %q, want none", got)
	}
	return g
}

func TestTheEndOfAPodWithASuppressedUpdateLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, newer := range map[string]api.Document{
		"update": doc("a#0", "web", "u1", "web:2"), "replacement": doc("a#0", "web", "u2", "web:2"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDisk()
				g := suppress(t, newJudge(), d, docs(doc("a#0", "web", "u1", "web:1")), docs(newer))
				g.deliver("one")
				if diff := cmp.Diff(ops("REMOVE u1"), g.got()); diff != "" {
					t.Errorf("operations (-want +got):\n%s", diff)
				}
				s := g.mux.store
				if len(d.records) > 0 || g.suppressed() != nil || len(g.board.last) > 0 {
					t.Errorf("left on the disk %v, waiting %q, shown %v", d.records, g.suppressed(), g.board.last)
				}
				if s.pending.Len()+len(s.filterAsked)+len(s.claims)+len(s.owner)+len(s.sources["one"].slots) > 0 {
					t.Errorf("left in memory: %+v", s)
				}
			})
		})
	}
}

func TestADeletedPodWithASuppressedUpdateEndsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		g := suppress(t, newJudge(), d, docs(doc("a#0", "web", "u1", "web:1")), docs(doc("a#0", "web", "u1", "web:2")))
		g.deliver("one", doc("a#0", "web", "u1", "web:2", dying(30)))
		if diff := cmp.Diff(ops("DELETE u1"), g.got()); diff != "" {
			t.Errorf("operations (-want +got):\n%s", diff)
		}
		if r := d.of("one", "a#0"); r.Suppressed != nil || r.Decided.Pod != nil {
			t.Errorf("the disk has %+v and %+v", r.Suppressed, r.Decided)
		}
	})
}

func TestASuppressedNewPodIsWanted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := startFiltered(t, newDisk(), newJudge(), newSieve(drops))
		g.deliver("one", doc("a#0", "web", "u1", "wait"))
		if g.got() != nil || len(g.mux.Pods()) != 1 || g.mux.Pods()[0].Admitted {
			t.Error("a pod that policy holds is admitted, or not desired")
		}
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		if g.got() != nil || !g.mux.Wanted("u1") || len(g.mux.Pods()) != 1 || !g.mux.Pods()[0].Admitted {
			t.Error("a new pod that a filter holds back is not admitted, or not desired")
		}
		g.deliver("one")
		if g.mux.Wanted("u1") || len(g.mux.Pods()) != 0 {
			t.Error("it is desired although its document is gone")
		}
	})
}

func TestAPodIsWantedAsWhatRunsAndAsWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSieve(passes)
		g := startFiltered(t, newDisk(), newJudge(), f)
		older, newer := doc("a#0", "web", "u1", "web:1"), doc("a#0", "web", "u1", "web:2")
		want := func(when string, asOlder, asNewer bool) {
			t.Helper()
			g.got()
			for _, as := range []struct {
				doc  api.Document
				want bool
			}{{older, asOlder}, {newer, asNewer}} {
				if got := g.mux.WantedAs("u1", judgedAs(as.doc.Pod)); got != as.want {
					t.Errorf("%s: wanted as %s: %t", when, as.doc.Pod.Spec.Containers[0].Image, got)
				}
			}
			if got := g.mux.WantedAs("u1", ""); got != (asOlder || asNewer) {
				t.Errorf("%s: wanted as anything: %t", when, got)
			}
		}
		want("before it came", false, false)
		g.deliver("one", older)
		want("it runs", true, false)
		f.turn(drops)
		g.deliver("one", newer)
		want("an update is suppressed", true, true)
		g.deliver("one", doc("a#0", "web", "u1", "web:2", phase(v1.PodRunning)))
		want("its status changes", true, true)
		g.deliver("one", older)
		want("the update was taken back", true, false)
		f.turn(passes)
		g.deliver("one", newer)
		want("it is updated", false, true)
		g.deliver("one", doc("a#0", "web", "u1", "web:2", phase(v1.PodRunning)))
		want("its status changes", false, true)
		g.deliver("one")
		want("it is gone", false, false)
	})
}

func TestAnAnswerIsForTheVersionItWasAskedAbout(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer             func(api.FilterQuestion) *api.FilterVerdict
		want, asked, waits []string
	}{
		"a pass is not one for what is newer": {
			passes, nil, ops("UPDATE u1 web:2 old web:1", "UPDATE u1 web:3 old web:1"), ops("Asked UPDATE u1"),
		},
		"a drop is none for what is newer": {
			drops, nil, ops("UPDATE u1 web:2 old web:1", "UPDATE u1 web:3 old web:1"), ops("Dropped UPDATE u1"),
		},
		"a deferral is one for what is newer": {
			defers(time.Minute), nil, ops("UPDATE u1 web:2 old web:1"), ops("Deferred UPDATE u1"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newSieve(passes)
				g := startFiltered(t, newDisk(), nil, f)
				g.deliver("one", doc("a#0", "web", "u1", "web:1"))
				g.got()
				f.questions()
				f.turn(tc.answer)
				give := f.postpone()
				g.deliver("one", doc("a#0", "web", "u1", "web:2"))
				g.deliver("one", doc("a#0", "web", "u1", "web:3"))
				synctest.Wait()
				f.turn(silent)
				give()
				if diff := cmp.Diff(tc.want, g.got()); diff != "" {
					t.Errorf("operations (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tc.asked, f.questions()); diff != "" {
					t.Errorf("asked (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tc.waits, g.suppressed()); diff != "" {
					t.Errorf("what waits (-want +got):\n%s", diff)
				}
			})
		})
	}
}
