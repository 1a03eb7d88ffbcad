package mux

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// suppress has a mux run web:1 and hold an update of it back, and gives what
// was written.
func suppress(t *testing.T, j *judge, d *disk, old, newer []pod.Document) *gated {
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
	for name, newer := range map[string]pod.Document{
		"update": doc("a#0", "web", "u1", "web:2"), "replacement": doc("a#0", "web", "u2", "web:2"), "another name": doc("a#0", "shop", "u2", "web:2"),
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
				if len(s.parked)+len(s.offered)+len(s.retries)+len(s.claims)+len(s.owner)+len(s.sources["one"].slots) > 0 {
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

func TestWhatTheDiskDoesNotTakeDoesNotGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		g := suppress(t, nil, d, docs(doc("a#0", "web", "u1", "web:1")), docs(doc("a#0", "web", "u2", "web:2")))
		d.fill(errors.New("no space left on device"))
		_, err := g.mux.Release(t.Context(), "default", "web")
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("Release = %v, want it to say that the disk is full", err)
		}
		time.Sleep(limit)
		if got := g.got(); got != nil {
			t.Errorf("operations %q although nothing could be written", got)
		}
		if diff := cmp.Diff(ops("Deferred UPDATE u2 for u1"), g.suppressed()); diff != "" {
			t.Errorf("what waits (-want +got):\n%s", diff)
		}
		d.fill(nil)
		time.Sleep(11 * time.Second)
		if diff := cmp.Diff(ops("REMOVE u1 for u2", "ADD u2 for u1"), g.got()); diff != "" {
			t.Errorf("operations once it can be written (-want +got):\n%s", diff)
		}
	})
}

func TestAFullDiskHoldsBackWhatPassesAndIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, f := newDisk(), newSieve(passes)
		g := startFiltered(t, d, nil, f)
		d.fill(errors.New("no space left on device"))
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		if got := g.got(); got != nil {
			t.Errorf("operations %q although nothing could be written", got)
		}
		if w := g.board.last["u1"]; w.Verdict.Reason != pod.ReasonVerdictNotKept || !w.Suppressed {
			t.Errorf("it waits as %+v", w)
		}
		d.fill(nil)
		time.Sleep(11 * time.Second)
		if diff := cmp.Diff(ops("ADD u1"), g.got()); diff != "" {
			t.Errorf("operations once it can be written (-want +got):\n%s", diff)
		}
		if asked := f.questions(); len(asked) != 2 {
			t.Errorf("asked %q, want the question twice", asked)
		}
	})
}

// written gives the IDs that were written since it was last asked.
func (d *disk) written() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	puts := d.puts
	d.puts = nil
	return puts
}

func TestSuppressionIsWrittenOnceAndAStatusNever(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, f := newDisk(), newSieve(passes)
		g := startFiltered(t, d, nil, f)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		d.written()
		f.turn(defers(time.Minute))
		g.deliver("one", doc("a#0", "web", "u1", "web:1", phase(v1.PodRunning)))
		time.Sleep(2 * limit)
		diff, puts := cmp.Diff(ops("RECONCILE u1"), g.got()), d.written()
		if diff != "" || puts != nil {
			t.Errorf("writes for a status: %q; operations (-want +got):\n%s", puts, diff)
		}
		g.deliver("one", doc("a#0", "web", "u1", "web:2"))
		time.Sleep(limit - time.Minute)
		if got, puts := g.got(), d.written(); got != nil || len(puts) != 2 {
			t.Errorf("writes %q, want one of the document and one of its suppression; operations %q", puts, got)
		}
		time.Sleep(time.Minute)
		diff, puts = cmp.Diff(ops("UPDATE u1"), g.got()), d.written()
		if diff != "" || len(puts) != 1 {
			t.Errorf("writes in the end: %q, want one; operations (-want +got):\n%s", puts, diff)
		}
	})
}

func TestAnAnswerIsForTheVersionItWasAskedAbout(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer             func(pod.FilterQuestion) *pod.FilterVerdict
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

func TestReleaseSaysWhatItReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSieve(only(pod.UpdateOp, drops))
		g := startFiltered(t, newDisk(), newJudge(), f)
		g.deliver("one", doc("a#0", "web", "u1", "web:1", identity("shop")), doc("b#0", "db", "u3", "db:1"), doc("c#0", "cache", "u4", "cache:1"))
		g.got()
		g.deliver("one", doc("a#0", "web", "u1", "web:2", identity("shop")), doc("b#0", "db", "u3", "evil"), doc("c#0", "cache", "u4", "cache:1"))
		g.got()
		for name, want := range map[string]string{
			"cache": "no update of default/cache is held back by a filter", "db": "default/db waits to be admitted, which release does not do",
		} {
			if updates, err := g.mux.Release(t.Context(), "default", name); err == nil || !strings.Contains(err.Error(), want) || updates != nil {
				t.Errorf("Release of %s = %v, %v, want %q", name, updates, err, want)
			}
		}
		if _, err := g.mux.Release(t.Context(), "other", "web"); err == nil {
			t.Error("a pod of another namespace was released")
		}
		updates, err := g.mux.Release(t.Context(), "default", "shop")
		now := time.Now()
		want := []pod.WaitingUpdate{{
			Namespace: "default", Name: "web", UID: "u1", Op: pod.UpdateOp, Wait: pod.WaitDropped, Policy: "p", Reason: "NoChange", Message: "not now",
			Since: now, Until: now.Add(limit), Source: "one", Document: "a#0", Version: doc("a#0", "web", "u1", "web:2", identity("shop")).Version,
		}}
		if diff := cmp.Diff(want, updates); diff != "" || err != nil {
			t.Errorf("Release: %v (-want +got):\n%s", err, diff)
		}
		if diff := cmp.Diff(ops("UPDATE u1"), g.got()); diff != "" {
			t.Errorf("operations (-want +got):\n%s", diff)
		}
	})
}

func TestWhatPolicyDoesNotAdmitIsNotSuppressed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, f := newJudge(), newSieve(only(pod.UpdateOp, drops))
		d := newDisk()
		g := startFiltered(t, d, j, f)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		g.deliver("one", doc("a#0", "web", "u1", "web:2"))
		g.got()
		g.board.told()
		g.deliver("one", doc("a#0", "web", "u1", "evil"))
		if got := g.suppressed(); got != nil {
			t.Errorf("%q waits for a filter although policy denies it", got)
		}
		if diff := cmp.Diff(ops("deny u1 beside u1"), g.board.told()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if r := d.of("one", "a#0"); r.Suppressed != nil {
			t.Errorf("the disk has %+v", r.Suppressed)
		}
		j.become(true, "s2")
		if diff := cmp.Diff(ops("Dropped UPDATE u1"), g.suppressed()); diff != "" {
			t.Errorf("what waits once it is admitted (-want +got):\n%s", diff)
		}
		j.become(false, "s3")
		if diff := cmp.Diff(ops("hold u1 beside u1", "deny u1 beside u1"), g.toldByNow()); diff != "" {
			t.Errorf("told when the policies change again (-want +got):\n%s", diff)
		}
		time.Sleep(2 * limit)
		if got := g.got(); got != nil {
			t.Errorf("operations %q, want none", got)
		}
	})
}

// toldByNow gives what was told once everything is at rest.
func (g *gated) toldByNow() []string {
	synctest.Wait()
	return g.board.told()
}

func TestASuppressedReplacementEndsNothingEvenWhereADeniedOneWould(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSieve(passes)
		g := startFiltered(t, newDisk(), newJudge(), f, func(c *Config) { c.StopDenied = true })
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		f.turn(drops)
		g.deliver("one", doc("a#0", "web", "u2", "web:2"))
		if got := g.got(); got != nil {
			t.Errorf("operations %q, want none", got)
		}
	})
}

func TestARejectedPodIsNoBusinessOfAFilter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, f := newJudge(), newSieve(drops)
		g := startFiltered(t, newDisk(), j, f)
		g.deliver("one", doc("a#0", "web", "u1", "evil"))
		if diff := cmp.Diff(ops("ADD u1 deny"), g.got()); diff != "" || f.questions() != nil {
			t.Errorf("operations (-want +got):\n%s", diff)
		}
		j.become(true, "s2")
		if diff := cmp.Diff(ops("REMOVE u1"), g.got()); diff != "" {
			t.Errorf("operations once it is admitted (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(ops("Dropped ADD u1"), g.suppressed()); diff != "" {
			t.Errorf("what waits then (-want +got):\n%s", diff)
		}
		j.become(false, "s3")
		if diff := cmp.Diff(ops("ADD u1 deny"), g.got()); diff != "" {
			t.Errorf("operations when it is rejected again (-want +got):\n%s", diff)
		}
	})
}

func TestAPodThatItsAPIServerReplacedEndsWhateverAFilterSaysOfTheNewOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSieve(passes)
		g := startFiltered(t, newDisk(), nil, f)
		g.deliver("api", from("api", "web", "u1", "web:1"))
		g.got()
		f.turn(drops)
		g.deliver("api", from("api", "web", "u2", "web:2"))
		if diff := cmp.Diff(ops("REMOVE u1"), g.got()); diff != "" {
			t.Errorf("operations (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(ops("Dropped ADD u2"), g.suppressed()); diff != "" {
			t.Errorf("what waits (-want +got):\n%s", diff)
		}
	})
}

func TestALoserRunsOnWhileTheWinnerIsSuppressed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSieve(passes)
		g := startFiltered(t, newDisk(), nil, f, func(c *Config) { c.Precedence = []string{"one", "api"} })
		g.deliver("api", from("api", "web", "u1", "web:1"))
		g.got()
		f.questions()
		f.turn(drops)
		g.deliver("one", from("one", "web", "u2", "web:2"))
		if got := g.got(); got != nil {
			t.Errorf("operations %q, want none", got)
		}
		if diff := cmp.Diff(ops("UPDATE u2 web:2 old web:1 for u1"), f.questions()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if c := g.mux.Conflicts(); len(c) != 1 || !slices.ContainsFunc(c[0].Claims, func(c pod.Claim) bool {
			return c.UID == "u2" && c.State == pod.ClaimWaits && c.Message == "a filter holds it back"
		}) {
			t.Errorf("conflicts: %+v", c)
		}
		f.turn(silent)
		g.deliver("api")
		if diff := cmp.Diff(ops("REMOVE u1"), g.got()); diff != "" {
			t.Errorf("operations when the loser is gone (-want +got):\n%s", diff)
		}
		if shown := g.board.last; len(shown) > 0 {
			t.Errorf("shown on a pod that has ended: %v", shown)
		}
		if diff := cmp.Diff(ops("ADD u2 web:2"), f.questions()); diff != "" {
			t.Errorf("asked when nothing runs any more (-want +got):\n%s", diff)
		}
		f.become(passes)
		if diff := cmp.Diff(ops("ADD u2"), g.got()); diff != "" {
			t.Errorf("operations when it passes (-want +got):\n%s", diff)
		}
		if shown := g.board.last; len(shown) > 0 {
			t.Errorf("still shown as waiting: %v", shown)
		}
	})
}

func TestTheWinnerTakesThePlaceOfTheLoserWhenItPasses(t *testing.T) {
	t.Parallel()
	for with, judge := range map[string]func() *judge{"without policies": func() *judge { return nil }, "with policies": newJudge} {
		t.Run(with, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newSieve(passes)
				g := startFiltered(t, newDisk(), judge(), f, func(c *Config) { c.Precedence = []string{"one", "api"} })
				g.deliver("api", from("api", "web", "u1", "web:1"))
				g.got()
				f.turn(drops)
				g.deliver("one", from("one", "web", "u2", "web:2"))
				g.got()
				f.become(passes)
				if diff := cmp.Diff(ops("REMOVE u1 for u2", "ADD u2 for u1"), g.got()); diff != "" {
					t.Errorf("operations (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestPolicyIsNotAskedAboutAStatusThatIsSuppressed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, f := newJudge(), newSieve(only(pod.Reconcile, drops))
		g := startFiltered(t, newDisk(), j, f)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		g.deliver("one", doc("a#0", "web", "u1", "web:1", phase(v1.PodRunning)))
		g.got()
		j.questions()
		j.become(true, "s2")
		synctest.Wait()
		if asked := j.questions(); asked != nil {
			t.Errorf("policy was asked %q", asked)
		}
		if diff := cmp.Diff(ops("Dropped RECONCILE u1"), g.suppressed()); diff != "" {
			t.Errorf("what waits (-want +got):\n%s", diff)
		}
	})
}

func TestWhatIsRefusedForItsUIDIsNotReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := startFiltered(t, newDisk(), nil, newSieve(passes))
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		g.deliver("one", doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u1", "db:1"))
		if got := g.got(); got != nil || g.suppressed() != nil {
			t.Errorf("operations %q, waiting %q, want none", got, g.suppressed())
		}
		if updates, err := g.mux.Release(t.Context(), "default", "db"); err == nil {
			t.Errorf("released %v", updates)
		}
		g.deliver("one", doc("b#0", "db", "u1", "db:1"))
		if diff := cmp.Diff(ops("REMOVE u1", "ADD u1"), g.got()); diff != "" {
			t.Errorf("operations when the UID is free (-want +got):\n%s", diff)
		}
	})
}
