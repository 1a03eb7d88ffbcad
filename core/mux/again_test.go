package mux

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/wardlet/wardlet/core/api"
)

func TestRefused_areVersionsThatTheGateHoldsOrDenies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := startGated(t, newDisk(), newJudge())
		g.deliver("one", doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u2", "wait"), doc("c#0", "x", "u3", "stuck"), doc("d#0", "y", "u4", "evil"))
		g.got()
		g.deliver("one", doc("a#0", "web", "u1", "wait:2"), doc("b#0", "db", "u2", "wait"), doc("c#0", "x", "u3", "stuck"), doc("d#0", "y", "u4", "evil"))
		g.got()
		var got []string
		for _, r := range g.mux.Refused() {
			got = append(got, string(r.Pod.UID)+" "+r.Pod.Spec.Containers[0].Image+" "+string(r.Verdict.Answer))
		}
		slices.Sort(got)
		if want := []string{"u1 wait:2 " + string(api.Hold), "u2 wait " + string(api.Hold), "u4 evil " + string(api.Deny)}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		g.stop()
	})
}
