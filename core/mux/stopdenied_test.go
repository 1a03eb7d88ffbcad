package mux

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
)

func TestWhetherADeniedReplacementStopsThePodThatRunsMayChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := newDisk()
		g := startGated(t, disk, newJudge())
		wants := func(step string, want, asked []string) {
			t.Helper()
			if diff := cmp.Diff(want, g.got()); diff != "" {
				t.Errorf("%s, operations (-want +got):\n%s", step, diff)
			}
			if got := g.judge.questions(); !slices.Equal(got, asked) {
				t.Errorf("%s, asked %q, want %q", step, got, asked)
			}
		}
		g.deliver("one", doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u5", "db:1"))
		wants("two pods", ops("ADD u1", "ADD u5"), ops("ADD u1", "ADD u5"))
		g.deliver("one", doc("a#0", "web", "u2", "evil"), doc("b#0", "db", "u5", "db:1"))
		wants("a denied replacement waits", nil, ops("ADD u2 old web:1 for u1"))
		g.mux.SetStopDenied(false)
		wants("nothing has changed", nil, nil)
		g.mux.SetStopDenied(true)
		wants("it is asked about again, and the old one ends", ops("REMOVE u1", "ADD u2 deny"), ops("ADD u2 old web:1 for u1"))
		g.mux.SetStopDenied(false)
		g.deliver("one", doc("a#0", "web", "u2", "evil"), doc("b#0", "db", "u6", "evil"))
		wants("back to the other rule", nil, ops("ADD u6 old db:1 for u5"))
		records, _ := disk.LoadAll()
		for _, r := range records {
			if r.ID == "a#0" && (r.Decided == nil || r.Decided.Verdict == nil || r.Decided.Verdict.Answer != api.Deny) {
				t.Errorf("the verdict is not on the disk: %+v", r.Decided)
			}
		}
	})
}
