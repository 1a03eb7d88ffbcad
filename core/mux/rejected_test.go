package mux

import (
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

var rejects = api.Verdict{Answer: api.Deny, Reason: api.ReasonConflictRejected, Message: `policy "p": neither`, Policy: "p"}

// evictsRejected evicts the pod with this UID. It fails the test unless the answer to the pod's
// conflict was ChooseNone.
func (a *arena) evictsRejected(uid types.UID) {
	a.t.Helper()
	for _, d := range a.mux.Pods() {
		if d.Pod.UID != uid {
			continue
		}
		if d.Rejected == nil || d.Rejected.Choice != api.ChooseNone {
			a.t.Fatalf("%s stands in a contest with the answer %+v, want none", uid, d.Rejected)
		}
		if err := a.mux.Evict(a.t.Context(), d.Pod, rejects); err != nil {
			a.t.Fatal(err)
		}
		return
	}
	a.t.Fatalf("no pod %s", uid)
}

func TestAPodThatIsEvictedWithItsWholeContestComesBackWhenThatHasAnotherEnd(t *testing.T) {
	t.Parallel()
	one, two := from("one", "web", "u1", "i"), from("two", "web", "u2", "j")
	for name, tc := range map[string]struct {
		change func(a *arena, u *umpire, j *judge)
		want   []string
	}{
		"its rival is gone":          {func(a *arena, _ *umpire, _ *judge) { a.deliver("two") }, ops("REMOVE u1", "ADD u1")},
		"it wins now":                {func(_ *arena, u *umpire, _ *judge) { u.become(prefers("i")) }, ops("REMOVE u1", "ADD u1")},
		"its rival wins now":         {func(_ *arena, u *umpire, _ *judge) { u.become(prefers("j")) }, ops("REMOVE u1", "ADD u2")},
		"it is rejected again":       {func(_ *arena, u *umpire, _ *judge) { u.become(always(api.ChooseNone)) }, nil},
		"other policies would admit": {func(_ *arena, _ *umpire, j *judge) { j.become(true, "another") }, nil},
		"its document is gone":       {func(a *arena, _ *umpire, _ *judge) { a.deliver("one") }, ops("REMOVE u1", "ADD u2")},
		"nothing else has changed":   {func(a *arena, _ *umpire, _ *judge) { a.deliver("one", one) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u, j := newUmpire(), newJudge()
				u.answer = always(api.ChooseNone)
				disk, answers := newDisk(), &ledger{}
				a := enter(t, Config{Documents: disk, Resolver: u, Resolutions: answers, Gate: j})
				a.deliver("one", one)
				a.wants("begin", "ADD u1")
				a.deliver("two", two)
				a.wants("a rival comes")
				a.evictsRejected("u1")
				a.wants("evicted", "EVICT u1 deny")
				tc.change(a, u, j)
				a.wants(name, tc.want...)
				a.stop()
			})
		})
	}
}

func TestAnOlderVersionIsEvictedWithItsWholeContest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		u := newUmpire()
		u.answer = always(api.ChooseNone)
		a := enter(t, Config{Documents: newDisk(), Resolver: u, Resolutions: &ledger{}, Gate: newJudge()})
		a.deliver("one", from("one", "web", "u1", "i"))
		a.wants("it runs", "ADD u1")
		a.deliver("two", from("two", "web", "u2", "j"))
		a.deliver("one", from("one", "web", "u3", "k"))
		a.got()
		a.evictsRejected("u1")
		a.wants("evicted", "EVICT u1 deny")
		a.deliver("two")
		a.wants("its rival is gone", "REMOVE u1", "ADD u3")
		a.stop()
	})
}

func TestAPodThatIsEvictedWithItsWholeContestStaysSoOverARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one, two := from("one", "web", "u1", "i"), from("two", "web", "u2", "j")
		disk, answers := newDisk(), &ledger{}
		u := newUmpire()
		u.answer = always(api.ChooseNone)
		a := enter(t, Config{Documents: disk, Resolver: u, Resolutions: answers, Gate: newJudge()})
		a.deliver("one", one)
		a.wants("it runs", "ADD u1")
		a.deliver("two", two)
		a.wants("a rival comes")
		a.evictsRejected("u1")
		a.got()
		a.stop()

		again := enter(t, Config{Documents: disk, Resolver: newUmpire(), Resolutions: answers, Gate: newJudge()})
		again.deliver("one", one)
		again.deliver("two", two)
		again.deliver("api")
		again.wants("after the restart", "RESTORE u1 deny")
		again.deliver("two")
		again.wants("its rival is gone", "REMOVE u1", "ADD u1")
		again.stop()
	})
}

func TestADenialInAConflictIsJudgedAgainOnceThatHasAnEnd(t *testing.T) {
	t.Parallel()
	one, two := from("one", "web", "u1", "evil"), from("two", "web", "u2", "j")
	none := always(api.ChooseNone)
	for name, tc := range map[string]struct {
		answer func(api.Contest) *api.Resolution
		// restart is true if the other policies come into force by a restart.
		restart bool
		restore []string
	}{
		"none may run":                    {none, false, nil},
		"the conflict has no answer yet":  {nil, false, nil},
		"none may run, over a restart":    {none, true, ops("RESTORE u1 deny")},
		"it has no answer over a restart": {nil, true, ops("RESTORE u1 deny")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				u, j := newUmpire(), newJudge()
				u.answer = tc.answer
				disk, answers := newDisk(), &ledger{}
				a := enter(t, Config{Documents: disk, Resolver: u, Resolutions: answers, Gate: j})
				a.deliver("one", one)
				a.wants("begin", "ADD u1 deny")
				a.deliver("two", two)
				a.wants("a rival comes")
				if tc.restart {
					a.stop()
					j = newJudge()
					j.lenient = true
					a = enter(t, Config{Documents: disk, Resolver: u, Resolutions: answers, Gate: j})
					a.deliver("one", one)
					a.deliver("two", two)
					a.deliver("api")
				} else {
					j.become(true, "another")
				}
				a.wants("other policies", tc.restore...)
				a.deliver("two")
				a.wants("its rival is gone", "REMOVE u1", "ADD u1")
				a.stop()
			})
		})
	}
}
