package mux

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

func TestWhatPolicyDoesNotAdmitIsNotSuppressed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, f := newJudge(), newSieve(only(api.UpdateOp, drops))
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

// toldByNow waits until the mux is idle and returns the new lines of the board.
func (g *gated) toldByNow() []string {
	synctest.Wait()
	return g.board.told()
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

func TestPolicyIsNotAskedAboutAStatusThatIsSuppressed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, f := newJudge(), newSieve(only(api.Reconcile, drops))
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
