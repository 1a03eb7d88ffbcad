package mux

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// gatedStep is one delivery, a change of the policies or a passage of time, and the expected
// results.
type gatedStep struct {
	docs    []api.Document
	lenient *bool
	node    bool
	again   []types.UID
	pass    time.Duration
	want    []string
	told    []string
	asked   []string
}

func TestWhatPolicyDecidesIsWhatTheSyncLoopGets(t *testing.T) {
	t.Parallel()
	yes, no := new(true), new(false)
	for name, steps := range map[string][]gatedStep{
		"an allowed pod passes with its verdict": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1"))},
		},
		"a denied pod is handed on as rejected": {
			{docs: docs(doc("a#0", "web", "u1", "evil")), want: ops("ADD u1 deny"), asked: ops("ADD u1")},
		},
		"a held pod waits and is told of": {
			{docs: docs(doc("a#0", "web", "u1", "wait")), told: ops("hold u1"), asked: ops("ADD u1")},
		},
		"a held pod is judged again after 10 s, doubling": {
			{docs: docs(doc("a#0", "web", "u1", "wait")), told: ops("hold u1"), asked: ops("ADD u1")},
			{pass: 9 * time.Second},
			{pass: 2 * time.Second, told: ops("hold u1"), asked: ops("ADD u1")},
			{pass: 18 * time.Second},
			{pass: 2 * time.Second, told: ops("hold u1"), asked: ops("ADD u1")},
		},
		"a held pod passes when the policies allow it": {
			{docs: docs(doc("a#0", "web", "u1", "wait")), told: ops("hold u1"), asked: ops("ADD u1")},
			{lenient: yes, want: ops("ADD u1"), told: ops("passed u1"), asked: ops("ADD u1")},
		},
		"a held pod is judged again when the node changes, if its verdict has seen that": {
			{docs: docs(doc("a#0", "web", "u1", "wait"), doc("b#0", "db", "u2", "wait-node")), told: ops("hold u1", "hold u2"), asked: ops("ADD u1", "ADD u2")},
			{node: true, told: ops("hold u2"), asked: ops("ADD u2")},
		},
		"a held update is judged again when the node changes": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{node: true},
			{docs: docs(doc("a#0", "web", "u1", "wait-node")), told: ops("hold u1 beside u1"), asked: ops("UPDATE u1 old web:1")},
			{node: true, told: ops("hold u1 beside u1"), asked: ops("UPDATE u1 old web:1")},
		},
		"what is refused of a pod is judged again on request": {
			{
				docs: docs(doc("a#0", "web", "u1", "wait"), doc("b#0", "db", "u2", "evil"), doc("c#0", "x", "u3", "web:1"), doc("d#0", "y", "u4", "wait")),
				want: ops("ADD u2 deny", "ADD u3"), told: ops("hold u1", "hold u4"), asked: ops("ADD u1", "ADD u2", "ADD u3", "ADD u4"),
			},
			{again: []types.UID{"u1", "u2", "u3", "none"}, told: ops("hold u1"), asked: ops("ADD u1", "ADD u2")},
		},
		"a held pod that is removed is gone and was never sent": {
			{docs: docs(doc("a#0", "web", "u1", "wait")), told: ops("hold u1"), asked: ops("ADD u1")},
			{docs: docs(), told: ops("gone u1")},
		},
		"a held pod that is edited is another one": {
			{docs: docs(doc("a#0", "web", "u1", "wait")), told: ops("hold u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "web:1")), want: ops("ADD u2"), told: ops("gone u1"), asked: ops("ADD u2")},
		},
		"a denied pod is judged again when the policies change, and starts": {
			{docs: docs(doc("a#0", "web", "u1", "evil")), want: ops("ADD u1 deny"), asked: ops("ADD u1")},
			{lenient: no, asked: ops("ADD u1")},
			{lenient: yes, want: ops("REMOVE u1", "ADD u1"), asked: ops("ADD u1")},
		},
		"a denied pod whose document changes is judged as a new one": {
			{docs: docs(doc("a#0", "web", "u1", "evil")), want: ops("ADD u1 deny"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "web:1")), want: ops("REMOVE u1", "ADD u2"), asked: ops("ADD u2")},
		},
		"a denied pod with a fixed uid whose document changes is judged as a new one": {
			{docs: docs(doc("a#0", "web", "u1", "evil")), want: ops("ADD u1 deny"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("REMOVE u1", "ADD u1"), asked: ops("ADD u1")},
		},
		"a denied pod that is removed is removed": {
			{docs: docs(doc("a#0", "web", "u1", "evil")), want: ops("ADD u1 deny"), asked: ops("ADD u1")},
			{docs: docs(), want: ops("REMOVE u1")},
		},
		"an allowed replacement is judged once, with the old pod, and both halves pass": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "web:2")), want: ops("REMOVE u1 for u2", "ADD u2 for u1"), asked: ops("ADD u2 old web:1 for u1")},
		},
		"of a denied replacement neither half passes": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil")), told: ops("deny u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil"))},
			{pass: time.Hour},
		},
		"a denied replacement passes when the policies allow it": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil")), told: ops("deny u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{lenient: yes, want: ops("REMOVE u1 for u2", "ADD u2 for u1"), told: ops("passed u1"), asked: ops("ADD u2 old web:1 for u1")},
		},
		"a denied replacement that is taken back leaves nothing": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil")), told: ops("deny u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1")), told: ops("passed u1")},
			{lenient: yes},
		},
		"a denied replacement whose document goes takes the old pod with it": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil")), told: ops("deny u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{docs: docs(), want: ops("REMOVE u1"), told: ops("passed u1")},
		},
		"a held replacement is judged again like any held pod": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "wait")), told: ops("hold u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{pass: 11 * time.Second, told: ops("hold u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
		},
		"a changed instance of a pod is judged as an update, with the old version": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:2")), want: ops("UPDATE u1"), asked: ops("UPDATE u1 old web:1")},
		},
		"a denied update leaves the last admitted version in force": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "evil")), told: ops("deny u1 beside u1"), asked: ops("UPDATE u1 old web:1")},
			{docs: docs(doc("a#0", "web", "u1", "web:3")), want: ops("UPDATE u1"), told: ops("passed u1"), asked: ops("UPDATE u1 old web:1")},
		},
		"deletion and status are never judged": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1", phase(v1.PodRunning))), want: ops("RECONCILE u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1", deleted)), want: ops("DELETE u1")},
		},
		"a document renamed to another pod is a removal and an addition": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "shop", "u2", "evil")), want: ops("REMOVE u1", "ADD u2 deny"), asked: ops("ADD u2")},
			{lenient: yes, want: ops("REMOVE u2", "ADD u2"), asked: ops("ADD u2")},
		},
		"one renamed to a pod whose document is gone waits until it may replace that": {
			{docs: docs(doc("a#0", "web", "u1", "web:1"), doc("b#0", "shop", "u2", "shop:1")), want: ops("ADD u1", "ADD u2"), asked: ops("ADD u1", "ADD u2")},
			{docs: docs(doc("a#0", "shop", "u3", "evil")), want: ops("REMOVE u1"), told: ops("deny u3 beside u2"), asked: ops("ADD u3 old shop:1 for u2")},
		},
		"what has no answer yet waits, and everything else passes it": {
			{docs: docs(doc("a#0", "web", "u1", "stuck"), doc("b#0", "db", "u2", "db:1")), want: ops("ADD u2"), asked: ops("ADD u1", "ADD u2")},
			{docs: docs(doc("a#0", "web", "u1", "stuck"), doc("b#0", "db", "u2", "db:1"), doc("c#0", "x", "u3", "x")), want: ops("ADD u3"), asked: ops("ADD u3")},
		},
		"an answer to a version that is not wanted any more is passed over": {
			{docs: docs(doc("a#0", "web", "u1", "stuck")), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "web:1")), want: ops("ADD u2"), asked: ops("ADD u2")},
			{lenient: yes},
		},
		"two pods may swap their uids, once both are judged": {
			{docs: docs(doc("a#0", "web", "u1", "i"), doc("b#0", "db", "u2", "i")), want: ops("ADD u1", "ADD u2"), asked: ops("ADD u1", "ADD u2")},
			{
				docs:  docs(doc("a#0", "web", "u2", "i"), doc("b#0", "db", "u1", "i")),
				want:  ops("REMOVE u1 for u2", "REMOVE u2 for u1", "ADD u2 for u1", "ADD u1 for u2"),
				asked: ops("ADD u2 old i for u1", "ADD u1 old i for u2"),
			},
		},
		"of two newcomers with one uid the first is judged and runs": {
			{docs: docs(doc("a#0", "web", "u1", "i"), doc("b#0", "db", "u1", "i")), want: ops("ADD u1"), asked: ops("ADD u1", "ADD u1")},
			{docs: docs(doc("b#0", "db", "u1", "i")), want: ops("REMOVE u1", "ADD u1")},
		},
		"a waiting pod with a fixed uid that is renamed is judged again": {
			{docs: docs(doc("a#0", "web", "u1", "wait:1")), told: ops("hold u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "shop", "u1", "evil")), want: ops("ADD u1 deny"), told: ops("gone u1"), asked: ops("ADD u1")},
		},
		"mirror pods are never judged": {
			{docs: docs(doc("a#0", "web", "u1", "evil", func(p *v1.Pod) { p.Annotations[pod.AnnotationMirror] = "x" })), want: ops("ADD u1")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playGated(t, steps, false)
		})
	}
}

// playGated plays the steps and compares the results of each step.
func playGated(t *testing.T, steps []gatedStep, stopDenied bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j := newJudge()
		g := startStopping(t, newDisk(), j, stopDenied)
		for i, s := range steps {
			switch {
			case s.pass > 0:
				time.Sleep(s.pass)
			case s.node:
				j.nodeChanged <- struct{}{}
			case s.again != nil:
				g.mux.JudgeAgain(s.again)
			case s.lenient != nil:
				j.become(*s.lenient, fmt.Sprintf("s%d", i+2))
			default:
				g.deliver("one", s.docs...)
			}
			if diff := cmp.Diff(s.want, g.got()); diff != "" {
				t.Errorf("step %d, operations (-want +got):\n%s", i+1, diff)
			}
			if diff := cmp.Diff(s.told, g.board.told()); diff != "" {
				t.Errorf("step %d, told (-want +got):\n%s", i+1, diff)
			}
			if asked := j.questions(); !slices.Equal(asked, s.asked) {
				t.Errorf("step %d, asked %q, want %q", i+1, asked, s.asked)
			}
		}
		g.stop()
	})
}

func TestADeniedReplacementMayStopThePodThatRunsInAKubeletsOrder(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]gatedStep{
		"denied: the old pod ends, the new one is rejected": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil")), want: ops("REMOVE u1", "ADD u2 deny"), asked: ops("ADD u2 old web:1 for u1")},
		},
		"held: the old pod ends, the new one waits": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "wait")), want: ops("REMOVE u1"), told: ops("hold u2"), asked: ops("ADD u2 old web:1 for u1")},
			{pass: 11 * time.Second, told: ops("hold u2"), asked: ops("ADD u2")},
		},
		"denied under another name: the old pod ends too": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "shop", "u2", "evil")), want: ops("REMOVE u1", "ADD u2 deny"), asked: ops("ADD u2")},
		},
		"a changed instance is no replacement: a denied update stops nothing": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "evil")), told: ops("deny u1 beside u1"), asked: ops("UPDATE u1 old web:1")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playGated(t, steps, true)
		})
	}
}

func TestWhatWaitsIsWanted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := startGated(t, newDisk(), newJudge())
		g.deliver("one", doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u2", "wait"), doc("c#0", "x", "u3", "stuck"))
		g.got()
		g.deliver("one", doc("a#0", "web", "u9", "evil"), doc("b#0", "db", "u2", "wait"), doc("c#0", "x", "u3", "stuck"))
		g.got()
		for _, uid := range []types.UID{"u1", "u2", "u3"} {
			if !g.mux.Wanted(uid) {
				t.Errorf("%s is not wanted, so a clean-up may end it", uid)
			}
		}
		var shown []string
		for _, d := range g.mux.Pods() {
			shown = append(shown, string(d.Pod.UID))
		}
		slices.Sort(shown)
		if diff := cmp.Diff([]string{"u1", "u2", "u3"}, shown); diff != "" {
			t.Errorf("pods, each once and none that is not to be seen yet (-want +got):\n%s", diff)
		}
		g.deliver("one")
		if got := g.got(); !slices.Equal(got, ops("REMOVE u1")) {
			t.Errorf("operations %q, want only what was sent to be removed", got)
		}
		if g.mux.Wanted("u2") || g.mux.Wanted("u9") || len(g.mux.Pods()) != 0 {
			t.Error("what is gone is still wanted")
		}
	})
}

// TestWhatRunsIsWantedByItsOwnSource checks WantedBy for pods that may run although the sync
// loop has not been sent them, while a document with the same UID waits.
func TestWhatRunsIsWantedByItsOwnSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := startGated(t, newDisk(), newJudge())
		ending := doc("c#0", "mail", "u4", "wait")
		ending.Pod.DeletionTimestamp = new(metav1.Now())
		g.deliver("one", doc("a#0", "web", "u1", "wait"), doc("b#0", "db", "u2", "db:1"), ending)
		g.got()
		for name, tc := range map[string]struct {
			uid    types.UID
			source string
			want   bool
		}{
			"it waits in the source it was made for":    {"u1", "one", true},
			"it waits in another one":                   {"u1", "two", false},
			"nobody knows what it was made for":         {"u1", "", true},
			"the sync loop is about to hear of it":      {"u2", "one", true},
			"it is so, and has come from another one":   {"u2", "two", true},
			"nobody wants it":                           {"u3", "one", false},
			"nobody wants it, and nobody knows it":      {"u3", "", false},
			"its source is not configured and it waits": {"u1", "former", false},
			"it is deleted while it waits":              {"u4", "one", false},
		} {
			if got := g.mux.WantedBy(tc.uid, tc.source); got != tc.want {
				t.Errorf("%s: WantedBy = %v", name, got)
			}
		}
	})
}

// TestAStatusIsThatOfThePodTheSyncLoopHas has a pod that waits with the UID of a rejected pod.
// The status of the rejected pod must not show that the other one waits.
func TestAStatusIsThatOfThePodTheSyncLoopHas(t *testing.T) {
	t.Parallel()
	rejected, waits := from("two", "web", "u1", "evil"), doc("a#0", "db", "u1", "wait")
	for name, told := range map[string][]string{"the rejected one is judged first": nil, "it is judged last": ops("hold u1", "passed u1")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := enter(t, Config{Gate: newJudge()})
				a.judge.ponder()
				for _, d := range []struct {
					source string
					doc    api.Document
				}{{"two", rejected}, {"one", waits}} {
					a.deliver(d.source, d.doc)
					synctest.Wait()
				}
				if told != nil {
					a.judge.mu.Lock()
					last := a.judge.answers[1]
					a.judge.answers = a.judge.answers[:1]
					a.judge.mu.Unlock()
					last()
					synctest.Wait()
				}
				a.judge.speak()
				if diff := cmp.Diff(ops("ADD u1 deny"), a.got()); diff != "" {
					t.Errorf("what is handed on (-want +got):\n%s", diff)
				}
				a.deliver("one")
				synctest.Wait()
				if diff := cmp.Diff(told, a.board.told()); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				a.stop()
			})
		})
	}
}

// TestWhatWaitsIsToldOfOnceItsUIDIsFree has a pod that waits with the UID of another pod. When
// the other pod is removed, its status is removed, too, and the waiting pod must be shown.
func TestWhatWaitsIsToldOfOnceItsUIDIsFree(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]struct {
		two  []api.Document
		told []string
	}{
		"its document is gone":                         {nil, ops("hold u1")},
		"its document is another pod":                  {[]api.Document{from("two", "web", "u2", "web:1")}, ops("hold u1")},
		"another document has the UID":                 {[]api.Document{from("two", "mail", "u1", "web:1")}, ops("hold u1")},
		"it goes on":                                   {[]api.Document{from("two", "web", "u1", "web:2")}, nil},
		"its document is another pod, which waits too": {[]api.Document{from("two", "web", "u2", "wait")}, ops("hold u2 beside u1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := enter(t, Config{Gate: newJudge()})
				a.deliver("two", from("two", "web", "u1", "web:1"))
				synctest.Wait()
				a.deliver("one", doc("a#0", "db", "u1", "wait"))
				if diff := cmp.Diff(ops("ADD u1"), a.got()); diff != "" {
					t.Errorf("what is handed on (-want +got):\n%s", diff)
				}
				a.deliver("two", next.two...)
				synctest.Wait()
				if diff := cmp.Diff(next.told, a.board.told()); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				a.stop()
			})
		})
	}
}

func TestAVerdictMayNameWhenItWantsToBeAskedAgain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ named, early, late time.Duration }{
		{time.Millisecond, 900 * time.Millisecond, 200 * time.Millisecond},
		{time.Minute, 59 * time.Second, 2 * time.Second},
		{time.Hour, 10*time.Minute - time.Second, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := newJudge()
			j.retry = tc.named
			g := startGated(t, newDisk(), j)
			g.deliver("one", doc("a#0", "web", "u1", "wait"))
			g.got()
			j.questions()
			time.Sleep(tc.early)
			synctest.Wait()
			if asked := j.questions(); asked != nil {
				t.Errorf("%s named: asked %q after %s", tc.named, asked, tc.early)
			}
			time.Sleep(tc.late)
			synctest.Wait()
			if asked := j.questions(); len(asked) != 1 {
				t.Errorf("%s named: asked %q after %s, want once", tc.named, asked, tc.early+tc.late)
			}
		})
	}
}
