package mux

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

func named(id, name string) api.Document {
	return wouldBe(id, types.NamespacedName{Namespace: "default", Name: name})
}

func TestTheLastValidVersionIsThatOfThePodADocumentNames(t *testing.T) {
	t.Parallel()
	a, b, c := good("m#0", "a", "ua"), good("m#1", "b", "ub"), good("m#2", "c", "uc")
	three := step{snapshot: true, docs: docs(a, b, c), want: ops("ADD ua", "ADD ub", "ADD uc")}
	tests := map[string][]step{
		"where one before it was taken out": {
			three,
			{docs: docs(named("m#0", "b"), good("m#1", "c", "uc")), want: ops("REMOVE ua")},
			{docs: docs(good("m#0", "b", "ub", image("b:2")), good("m#1", "c", "uc")), want: ops("UPDATE ub")},
		},
		"where one before it was taken out, in a snapshot": {
			three,
			{snapshot: true, docs: docs(named("m#0", "b"), good("m#1", "c", "uc")), want: ops("REMOVE ua")},
		},
		"where one with a fault before it was taken out": {
			three,
			{docs: docs(named("m#0", "a"), named("m#1", "b"), c), want: nil},
			{docs: docs(named("m#0", "b"), good("m#1", "c", "uc")), want: ops("REMOVE ua")},
		},
		"where one was put before it": {
			three,
			{docs: docs(good("m#0", "n", "un"), named("m#1", "a"), good("m#2", "b", "ub"), good("m#3", "c", "uc")), want: ops("ADD un")},
		},
		"where one with a fault was put before it": {
			three,
			{docs: docs(named("m#0", "n"), named("m#1", "a"), good("m#2", "b", "ub"), good("m#3", "c", "uc"))},
			{docs: docs(named("m#0", "n"), good("m#1", "a", "ua", image("a:2")), good("m#2", "b", "ub"), good("m#3", "c", "uc")), want: ops("UPDATE ua")},
		},
		"of all that follow": {
			three,
			{docs: docs(named("m#0", "b"), named("m#1", "c")), want: ops("REMOVE ua")},
			{docs: docs(named("m#0", "b"), good("m#1", "c", "uc", image("c:2"))), want: ops("UPDATE uc")},
			{docs: docs(good("m#0", "b", "ub", image("b:2")), good("m#1", "c", "uc", image("c:2"))), want: ops("UPDATE ub")},
		},
		"where two changed places": {
			three,
			{docs: docs(named("m#0", "b"), named("m#1", "a"), c), want: nil},
			{docs: docs(good("m#0", "b", "ub"), named("m#1", "a"), c), want: nil},
			{docs: docs(good("m#0", "b", "ub"), good("m#1", "a", "ua", image("a:2")), c), want: ops("UPDATE ua")},
		},
		"where the other one that changed places has no fault": {
			three,
			{docs: docs(named("m#0", "b"), good("m#1", "a", "ua", image("a:2")), c), want: ops("UPDATE ua")},
		},
		"where its file got another name": {
			three,
			{docs: docs(named("n#0", "a"), good("n#1", "b", "ub"), good("n#2", "c", "uc")), gone: []string{"m"}, want: nil},
			{docs: docs(good("n#0", "a", "ua", image("a:2")), good("n#1", "b", "ub"), good("n#2", "c", "uc")), want: ops("UPDATE ua")},
		},
		"where its file got another name that is seen first": {
			three,
			{docs: docs(named("n#0", "a")), want: nil},
			{gone: []string{"m"}, want: ops("REMOVE ub", "REMOVE uc")},
			{gone: []string{"n"}, want: ops("REMOVE ua")},
		},
		"not where a valid document is that pod": {
			three,
			{docs: docs(good("n#0", "a", "ua")), want: nil},
			{docs: docs(good("n#0", "a", "ua"), named("n#1", "a")), gone: []string{"m"}, want: ops("REMOVE ub", "REMOVE uc")},
			{docs: docs(good("n#0", "a", "ua", image("a:2")), named("n#1", "a")), want: ops("UPDATE ua")},
		},
		"not where another source names it": {
			three,
			{source: "two", docs: docs(named("x#0", "a")), want: nil},
			{gone: []string{"m"}, want: ops("REMOVE ua", "REMOVE ub", "REMOVE uc")},
		},
		"not where the document names another one meanwhile": {
			three,
			{docs: docs(named("n#0", "a")), want: nil},
			{docs: docs(named("n#0", "x")), gone: []string{"m"}, want: ops("REMOVE ua", "REMOVE ub", "REMOVE uc")},
		},
		"and else of the document": {
			three,
			{docs: docs(named("m#0", "x"), b, c), want: nil},
			{docs: docs(good("m#0", "x", "ux"), b, c), want: ops("REMOVE ua for ux", "ADD ux for ua")},
		},
		"unless a valid one is that pod now": {
			three,
			{docs: docs(named("m#0", "x"), good("m#1", "a", "ua", image("a:2")), good("m#2", "b", "ub"), good("m#3", "c", "uc")), want: ops("UPDATE ua")},
			{docs: docs(named("m#0", "x"), good("m#1", "b", "ub"), good("m#2", "c", "uc")), want: ops("REMOVE ua")},
		},
		"unless a valid one behind it took its place": {
			three,
			{docs: docs(good("m#0", "b", "ub"), named("m#1", "x"), c), want: ops("REMOVE ua")},
		},
	}
	playAll(t, tests)
}

func TestARestartKnowsWhichDocumentAPodBecame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		g := startGated(t, d, newJudge())
		g.deliver("one", doc("m#0", "a", "ua", "a:1"), doc("m#1", "b", "ub", "b:1"), doc("m#2", "c", "uc", "c:1"))
		g.got()
		g.deliver("one", named("m#0", "b"), doc("m#1", "c", "uc", "c:1"))
		if diff := cmp.Diff(ops("REMOVE ua"), flat(g.got())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if r := d.of("one", "m#0"); r.Pod == nil || r.Pod.Name != "b" || r.Decided == nil || r.Decided.Origin.Document != "m#0" {
			t.Errorf("the record of m#0 is %+v", r)
		}
		if r := d.of("one", "m#2"); r.Pod != nil {
			t.Errorf("m#2, which is gone, has a record: %+v", r)
		}
		g.stop()
		g = startGated(t, d, newJudge())
		g.got()
		g.deliver("one", named("m#0", "b"), doc("m#1", "c", "uc", "c:1"))
		if got := g.got(); len(got) > 0 {
			t.Errorf("after a restart: %v", got)
		}
	})
}

func TestASnapshotAfterARestartFindsThePodUnderAnotherID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		g := startGated(t, d, newJudge())
		g.deliver("one", doc("m#0", "a", "ua", "a:1"), doc("m#1", "b", "ub", "b:1"), doc("m#2", "c", "uc", "c:1"))
		g.stop()
		g = startGated(t, d, newJudge())
		g.got()
		g.deliver("one", named("m#0", "b"), doc("m#1", "c", "uc", "c:1"))
		if diff := cmp.Diff(ops("REMOVE ua"), flat(g.got())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
