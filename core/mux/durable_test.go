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

	"github.com/wardlet/wardlet/core/api"
)

func TestARestartReusesWhatWasDecided(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before, then []api.Document // snapshots before the restart
		lenient      bool           // whether the policies allow everything after the restart
		after        []api.Document // the first snapshot after the restart
		restored     []string       // operations before this snapshot
		asked        []string
		want         []string // operations after this snapshot
		askedAfter   []string
	}{
		"an admitted pod is handed on without asking anybody": {
			before: docs(doc("a#0", "web", "u1", "web:1")), after: docs(doc("a#0", "web", "u1", "web:1")),
			restored: ops("RESTORE u1"),
		},
		"a rejected pod is rejected again, and judged again": {
			before: docs(doc("a#0", "web", "u1", "evil")), after: docs(doc("a#0", "web", "u1", "evil")),
			restored: ops("RESTORE u1 deny"), asked: ops("ADD u1"),
		},
		"a rejected pod starts when the policies allow it now": {
			before: docs(doc("a#0", "web", "u1", "evil")), after: docs(doc("a#0", "web", "u1", "evil")), lenient: true,
			restored: ops("RESTORE u1 deny", "REMOVE u1", "ADD u1"), asked: ops("ADD u1"),
		},
		"a held pod is judged as if it were new": {
			before: docs(doc("a#0", "web", "u1", "wait")), after: docs(doc("a#0", "web", "u1", "wait")),
			asked: ops("ADD u1"),
		},
		"the last admitted version goes on where its replacement was denied": {
			before: docs(doc("a#0", "web", "u1", "web:1")), then: docs(doc("a#0", "web", "u2", "evil")), after: docs(doc("a#0", "web", "u2", "evil")),
			restored: ops("RESTORE u1"), asked: ops("ADD u2 old web:1 for u1"),
		},
		"the last admitted version goes on where its update was denied": {
			before: docs(doc("a#0", "web", "u1", "web:1")), then: docs(doc("a#0", "web", "u1", "evil")), after: docs(doc("a#0", "web", "u1", "evil")),
			restored: ops("RESTORE u1"), asked: ops("UPDATE u1 old web:1"),
		},
		"a pod whose document was renamed to a denied one has ended": {
			before: docs(doc("a#0", "web", "u1", "web:1")), then: docs(doc("a#0", "shop", "u2", "evil")), after: docs(doc("a#0", "shop", "u2", "evil")),
			restored: ops("RESTORE u2 deny"), asked: ops("ADD u2"),
		},
		"a pod of a known uid keeps the last admitted version where the edit clashed": {
			before:   docs(doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u2", "db:1")),
			then:     docs(doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u1", "db:2")),
			after:    docs(doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u1", "db:2")),
			restored: ops("RESTORE u1", "RESTORE u2"), asked: ops("ADD u1 old db:1 for u2"),
		},
		"the last admitted version goes on for what its document stands for now, not in the way of what came after it": {
			before:   docs(doc("a#0", "web", "u1", "web:1", identity("x"))),
			then:     docs(doc("a#0", "web", "u1", "evil", identity("y")), doc("b#0", "x", "u2", "x:1")),
			after:    docs(doc("a#0", "web", "u1", "evil", identity("y")), doc("b#0", "x", "u2", "x:1")),
			restored: ops("RESTORE u1", "RESTORE u2"), asked: ops("UPDATE u1 old web:1"),
		},
		"an instance that changed while the agent was away is judged": {
			before: docs(doc("a#0", "web", "u1", "web:1")), after: docs(doc("a#0", "web", "u1", "web:2")),
			restored: ops("RESTORE u1"), want: ops("UPDATE u1"), askedAfter: ops("UPDATE u1 old web:1"),
		},
		"a newer agent's defaults are no change of the instance": {
			before:   docs(doc("a#0", "web", "u1", "web:1")),
			after:    docs(sameVersion(doc("a#0", "web", "u1", "web:1"), func(p *v1.Pod) { p.Spec.SchedulerName = "default" })),
			restored: ops("RESTORE u1"), want: ops("UPDATE u1"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDisk()
				first := startGated(t, d, newJudge())
				first.deliver("one", tc.before...)
				first.got()
				if tc.then != nil {
					first.deliver("one", tc.then...)
					first.got()
				}
				first.stop()
				j := newJudge()
				j.lenient = tc.lenient
				second := startGated(t, d, j)
				if diff := cmp.Diff(tc.restored, second.got()); diff != "" {
					t.Errorf("restored (-want +got):\n%s", diff)
				}
				if asked := j.questions(); !slices.Equal(asked, tc.asked) {
					t.Errorf("asked at the start %q, want %q", asked, tc.asked)
				}
				second.deliver("one", tc.after...)
				if diff := cmp.Diff(tc.want, second.got()); diff != "" {
					t.Errorf("after the first snapshot (-want +got):\n%s", diff)
				}
				if asked := j.questions(); !slices.Equal(asked, tc.askedAfter) {
					t.Errorf("asked after the first snapshot %q, want %q", asked, tc.askedAfter)
				}
			})
		})
	}
}

func TestAPodThatIsNamedAgainWhileItsSuccessorIsDeniedGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJudge()
		g := startGated(t, newDisk(), j)
		g.deliver("one", doc("m#0", "a", "u1", "a:1"))
		g.got()
		g.deliver("one", doc("m#0", "d", "u2", "evil"))
		g.got()
		g.deliver("one", doc("m#0", "a", "u1", "a:1"), doc("m#1", "d", "u2", "evil"), bad("m#2"), bad("m#*"))
		g.got()
		j.become(true, "s2")
		if diff := cmp.Diff(ops("REMOVE u2", "ADD u2"), flat(g.got())); diff != "" {
			t.Errorf("while the manifest is held and the other one is let through (-want +got):\n%s", diff)
		}
	})
}

func TestAVerdictIsOnTheDiskBeforeItTakesEffect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		g := startGated(t, d, newJudge())
		g.deliver("one", doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u2", "evil"))
		g.got()
		for id, want := range map[string]api.Answer{"a#0": api.Allow, "b#0": api.Deny} {
			if r := d.of("one", id); r.Decided == nil || r.Decided.Verdict == nil || r.Decided.Verdict.Answer != want {
				t.Errorf("%s: stored %+v, want the verdict %s", id, r.Decided, want)
			}
		}
		if diff := cmp.Diff([]string{"a#0", "b#0", "a#0", "b#0"}, d.puts); diff != "" {
			t.Errorf("writes, each document and then its verdict (-want +got):\n%s", diff)
		}
		g.judge.become(false, "s2")
		g.got()
		if r := d.of("one", "b#0"); !slices.Equal(r.Decided.Verdict.Sets, []string{"s2"}) {
			t.Errorf("a verdict that was given again names the sets %q, want the new one", r.Decided.Verdict.Sets)
		}
	})
}

func TestAVerdictThatCannotBeWrittenTakesNoEffect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		g := startGated(t, d, newJudge())
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		d.fill(errors.New("no space left on device"))
		g.deliver("one", doc("a#0", "web", "u2", "web:2"), doc("b#0", "db", "u3", "evil"), doc("c#0", "x", "u4", "x:1"))
		if got := g.got(); got != nil {
			t.Errorf("operations %q although nothing could be written", got)
		}
		if diff := cmp.Diff(ops("hold u2 beside u1", "hold u3", "hold u4"), g.board.told()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if w := g.board.last["u4"]; w.Verdict.Reason != api.ReasonVerdictNotKept || !strings.Contains(w.Verdict.Message, "no space left") {
			t.Errorf("it waits because of %+v", w.Verdict)
		}
		d.fill(nil)
		time.Sleep(11 * time.Second)
		if diff := cmp.Diff(ops("REMOVE u1 for u2", "ADD u2 for u1", "ADD u3 deny", "ADD u4"), flat(g.got())); diff != "" {
			t.Errorf("operations once it can be written (-want +got):\n%s", diff)
		}
	})
}

func TestADiskThatIsFullStopsNoPodEvenWhereADeniedReplacementWould(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		g := startStopping(t, d, newJudge(), true)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		d.fill(errors.New("no space left on device"))
		g.deliver("one", doc("a#0", "web", "u2", "evil"))
		if got := g.got(); got != nil {
			t.Errorf("operations %q although nothing could be written", got)
		}
		d.fill(nil)
		time.Sleep(11 * time.Second)
		if diff := cmp.Diff(ops("REMOVE u1", "ADD u2 deny"), g.got()); diff != "" {
			t.Errorf("operations once it can be written (-want +got):\n%s", diff)
		}
		if r := d.of("one", "a#0"); r.Decided == nil || r.Decided.Verdict.Answer != api.Deny {
			t.Errorf("stored %+v, want the rejection", r.Decided)
		}
	})
}
