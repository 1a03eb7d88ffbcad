package worker

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestStartGate(t *testing.T) {
	t.Parallel()
	g := newStartGate()
	dead := map[types.UID]bool{}
	live := func(uid types.UID) bool { return !dead[uid] }
	for _, uid := range []types.UID{"a", "b", "c", "d"} {
		g.join("web", uid)
	}
	check := func(uid types.UID, want bool) {
		t.Helper()
		if got := g.enter("web", uid, live); got != want {
			t.Errorf("enter(%s) = %v, want %v", uid, got, want)
		}
	}
	check("b", false) // a is first
	check("a", true)
	check("a", true) // holds it already
	check("b", false)
	if diff := cmp.Diff([]types.UID{"b", "c", "d"}, g.leave("web", "a")); diff != "" {
		t.Errorf("who waits after a left (-want +got):\n%s", diff)
	}
	dead["b"] = true
	check("d", false) // c is before it
	check("c", true)  // b cannot start any more
	g.leave("web", "d")
	if len(g.leave("web", "c")) != 0 || len(g.holders) != 0 || len(g.waiting) != 0 {
		t.Errorf("the gate keeps something: %+v", g)
	}
}

func TestANameIsFreeWhenAllThatRanUnderItHaveLeft(t *testing.T) {
	t.Parallel()
	g := newStartGate()
	live := func(types.UID) bool { return true }
	for _, uid := range []types.UID{"a", "b", "c"} {
		g.join("web", uid)
	}
	for range 2 {
		g.seize("web", "a")
		g.seize("web", "b")
	}
	if !g.enter("web", "b", live) {
		t.Error("b does not hold the name it runs under")
	}
	for _, uid := range []types.UID{"a", "b"} {
		if g.enter("web", "c", live) {
			t.Errorf("c starts before %s has left", uid)
		}
		g.leave("web", uid)
	}
	if !g.enter("web", "c", live) {
		t.Error("c does not start, and all others have left")
	}
}
