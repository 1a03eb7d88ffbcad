package mux

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
)

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
		if c := g.mux.Conflicts(); len(c) != 1 || !slices.ContainsFunc(c[0].Claims, func(c api.Claim) bool {
			return c.UID == "u2" && c.State == api.ClaimWaits && c.Message == "a filter holds it back"
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
