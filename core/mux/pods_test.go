package mux

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
)

func TestPodsHaveTheVerdictThatIsStoredWithThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		documents := docs(doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u2", "evil"), doc("c#0", "new", "u3", "wait"))
		verdicts := func(g *gated) (all []string) {
			synctest.Wait()
			for _, p := range g.mux.Pods() {
				answer := api.Answer("none")
				if p.Verdict != nil {
					answer = p.Verdict.Answer
				}
				all = append(all, string(p.Pod.UID)+" "+string(answer))
			}
			slices.Sort(all)
			return all
		}
		d := newDisk()
		g := startGated(t, d, newJudge())
		g.deliver("one", documents...)
		want := []string{"u1 allow", "u2 deny", "u3 none"}
		if diff := cmp.Diff(want, verdicts(g)); diff != "" {
			t.Errorf("verdicts (-want +got):\n%s", diff)
		}
		g.stop()
		d.reread(t)
		g = startGated(t, d, newJudge())
		if diff := cmp.Diff(want, verdicts(g)); diff != "" {
			t.Errorf("verdicts after a restart (-want +got):\n%s", diff)
		}
	})
}
