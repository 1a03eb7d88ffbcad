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
