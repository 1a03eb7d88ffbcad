package mux

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/state"
)

func TestSuppressionGoesOnOverARestart(t *testing.T) {
	t.Parallel()
	web1, web2 := doc("a#0", "web", "u1", "web:1"), doc("a#0", "web", "u1", "web:2")
	for name, tc := range map[string]struct {
		old, newer                   []api.Document
		restored, asked, waits, then []string
	}{
		"of an update": {
			docs(web1), docs(web2),
			ops("RESTORE u1"), ops("UPDATE u1 web:2 old web:1"), ops("Dropped UPDATE u1"), ops("UPDATE u1"),
		},
		"of a replacement": {
			docs(web1), docs(doc("a#0", "web", "u2", "web:2")),
			ops("RESTORE u1"), ops("UPDATE u2 web:2 old web:1 for u1"), ops("Dropped UPDATE u2 for u1"), ops("REMOVE u1 for u2", "ADD u2 for u1"),
		},
		"of a new pod": {
			docs(), docs(web1),
			nil, ops("ADD u1 web:1"), ops("Dropped ADD u1"), ops("ADD u1"),
		},
	} {
		for with, judge := range map[string]func() *judge{"": func() *judge { return nil }, ", with policies": newJudge} {
			t.Run(name+with, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					d := newDisk()
					g := suppress(t, judge(), d, tc.old, tc.newer)
					time.Sleep(20 * time.Minute)
					g.stop()
					for _, minutes := range []int{15, 24} {
						j, f := judge(), newSieve(drops)
						g = startFiltered(t, d, j, f)
						if diff := cmp.Diff(tc.restored, g.got()); diff != "" {
							t.Errorf("restored (-want +got):\n%s", diff)
						}
						if diff := cmp.Diff(tc.asked, f.questions()); diff != "" {
							t.Errorf("asked at the start (-want +got):\n%s", diff)
						}
						g.deliver("one", tc.newer...)
						if diff := cmp.Diff(tc.waits, g.suppressed()); diff != "" {
							t.Errorf("what waits (-want +got):\n%s", diff)
						}
						if asked := f.questions(); asked != nil {
							t.Errorf("asked %q when the source said the same again", asked)
						}
						if j != nil && len(j.questions()) > 0 {
							t.Error("what was admitted was judged again")
						}
						time.Sleep(time.Duration(minutes) * time.Minute)
						if got := g.got(); got != nil {
							t.Errorf("operations %q before the limit", got)
						}
						if minutes < 24 {
							g.stop()
						}
					}
					time.Sleep(time.Minute)
					if diff := cmp.Diff(tc.then, g.got()); diff != "" {
						t.Errorf("operations at the limit (-want +got):\n%s", diff)
					}
					if r := d.of("one", "a#0"); r.Suppressed != nil {
						t.Errorf("the disk still has %+v", r.Suppressed)
					}
				})
			})
		}
	}
}

func TestARestartWithoutAFilterLetsWhatWasSuppressedPass(t *testing.T) {
	t.Parallel()
	for with, judge := range map[string]func() *judge{"without policies": func() *judge { return nil }, "with policies": newJudge} {
		t.Run(with, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDisk()
				newer := docs(doc("a#0", "web", "u2", "web:2"))
				suppress(t, judge(), d, docs(doc("a#0", "web", "u1", "web:1")), newer).stop()
				g := startFiltered(t, d, judge(), nil)
				if diff := cmp.Diff(ops("RESTORE u1", "REMOVE u1 for u2", "ADD u2 for u1"), flat(g.got())); diff != "" {
					t.Errorf("operations (-want +got):\n%s", diff)
				}
				if r := d.of("one", "a#0"); r.Suppressed != nil || r.Decided == nil || r.Decided.Pod != nil {
					t.Errorf("the disk has %+v and %+v", r.Suppressed, r.Decided)
				}
			})
		})
	}
}

func TestAClockThatWasSetHoldsNothingBackForLonger(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"ten years ahead": 10 * 365 * 24 * time.Hour, "ten years back": -10 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDisk()
				suppress(t, nil, d, docs(doc("a#0", "web", "u1", "web:1")), docs(doc("a#0", "web", "u1", "web:2"))).stop()
				id := state.DocumentID{Source: "one", ID: "a#0"}
				r := d.records[id]
				r.Suppressed.Since, r.Suppressed.Until = r.Suppressed.Since.Add(-by), r.Suppressed.Until.Add(-by)
				g := startFiltered(t, d, nil, newSieve(drops))
				time.Sleep(limit)
				if diff := cmp.Diff(ops("RESTORE u1", "UPDATE u1"), g.got()); diff != "" {
					t.Errorf("operations (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// writes is a disk that also keeps all records written to it, in order.
type writes struct {
	*disk
	all []state.Record
}

func (w *writes) Apply(put []state.Record, remove []state.DocumentID) error {
	w.all = append(w.all, put...)
	return w.disk.Apply(put, remove)
}

func TestAnAdmittedVersionIsNotKeptAsHandedOnBeforeItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, f := &writes{disk: newDisk()}, newSieve(passes)
		g := startFiltered(t, w, newJudge(), f)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		f.turn(drops)
		g.deliver("one", doc("a#0", "web", "u2", "web:2"))
		g.got()
		for _, r := range w.all {
			if r.Decided != nil && r.Decided.Pod == nil && r.Pod.UID == "u2" {
				t.Errorf("a crash after this write would take u2 for handed on: %+v", r)
			}
		}
	})
}

func TestASuppressedDocumentThatLosesItsPodForgetsThatOfIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		suppress(t, newJudge(), d, docs(doc("m#0", "web", "u1", "web:1")), docs(doc("m#0", "web", "u2", "web:2"))).stop()
		// While the conflict about web is undecided, no question is asked and the stored hold
		// is not used.
		if err := d.Apply([]state.Record{{Source: "api", ID: "web", Version: "1", Pod: from("api", "web", "u9", "web:9").Pod}}, nil); err != nil {
			t.Fatal(err)
		}
		u := newUmpire()
		g := startFiltered(t, d, newJudge(), newSieve(drops), func(c *Config) { c.Resolver = u })
		g.got()
		if e := g.mux.store.sources["one"].docs.Entry("m#0"); e.Suppressed == nil {
			t.Fatal("what the disk had was taken up while it was not decided who may run")
		}
		shop := types.NamespacedName{Namespace: "default", Name: "shop"}
		g.deliver("one", doc("m#0", "web", "u2", "web:2"), doc("n#0", "web", "u3", "web:3"))
		g.deliver("one", wouldBe("m#0", shop), doc("n#0", "web", "u3", "web:3"))
		g.deliver("one", doc("m#0", "shop", "u4", "shop:1"), doc("n#0", "web", "u3", "web:3"))
		g.got()
		for _, u := range g.mux.Suppressed() {
			if u.UID == "u4" && time.Since(u.Since) > 0 {
				t.Errorf("%s is held back since %s, which is another pod's", u.UID, u.Since)
			}
		}
		if e := g.mux.store.sources["one"].docs.Entry("m#0"); e.Suppressed != nil {
			t.Errorf("the document of another pod still has %+v", e.Suppressed)
		}
	})
}

func TestTheGateIsToldWhatWaitsAsAdmittedBeforeARestart(t *testing.T) {
	t.Parallel()
	web1 := doc("a#0", "web", "u1", "web:1")
	for name, tc := range map[string]struct {
		newer api.Document
		told  []string
	}{
		"an update":     {doc("a#0", "web", "u1", "web:2"), ops("allow UPDATE u1 web:2")},
		"a replacement": {doc("a#0", "web", "u2", "web:2"), ops("allow ADD u2 web:2")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, j := newDisk(), newJudge()
				suppress(t, j, d, docs(web1), docs(tc.newer)).stop()
				if j.recalled != nil {
					t.Errorf("it is told %q of what it was asked about", j.recalled)
				}
				j = newJudge()
				g := startFiltered(t, d, j, newSieve(drops))
				g.got()
				g.deliver("one", tc.newer)
				g.got()
				g.stop()
				if diff := cmp.Diff(tc.told, j.recalled); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				if asked := j.questions(); len(asked) > 0 {
					t.Errorf("asked %q", asked)
				}
			})
		})
	}
}
