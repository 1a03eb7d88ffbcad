package mux

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
)

func TestReleaseSaysWhatItReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newSieve(only(api.UpdateOp, drops))
		g := startFiltered(t, newDisk(), newJudge(), f)
		g.deliver("one", doc("a#0", "web", "u1", "web:1", identity("shop")), doc("b#0", "db", "u3", "db:1"), doc("c#0", "cache", "u4", "cache:1"))
		g.got()
		g.deliver("one", doc("a#0", "web", "u1", "web:2", identity("shop")), doc("b#0", "db", "u3", "evil"), doc("c#0", "cache", "u4", "cache:1"))
		g.got()
		for name, want := range map[string]string{
			"cache": "no update of default/cache is held back by a filter", "db": "default/db waits to be admitted, which release does not do",
		} {
			if updates, err := g.mux.Release(t.Context(), "default", name); err == nil || !strings.Contains(err.Error(), want) || updates != nil {
				t.Errorf("Release of %s = %v, %v, want %q", name, updates, err, want)
			}
		}
		if _, err := g.mux.Release(t.Context(), "other", "web"); err == nil {
			t.Error("a pod of another namespace was released")
		}
		updates, err := g.mux.Release(t.Context(), "default", "shop")
		now := time.Now()
		want := []api.WaitingUpdate{{
			Namespace: "default", Name: "web", UID: "u1", Op: api.UpdateOp, Wait: api.WaitDropped, Policy: "p", Reason: "NoChange", Message: "not now",
			Since: now, Until: now.Add(limit), Source: "one", Document: "a#0", Version: doc("a#0", "web", "u1", "web:2", identity("shop")).Version,
		}}
		if diff := cmp.Diff(want, updates); diff != "" || err != nil {
			t.Errorf("Release: %v (-want +got):\n%s", err, diff)
		}
		if diff := cmp.Diff(ops("UPDATE u1"), g.got()); diff != "" {
			t.Errorf("operations (-want +got):\n%s", diff)
		}
	})
}

func TestWhatIsRefusedForItsUIDIsNotReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := startFiltered(t, newDisk(), nil, newSieve(passes))
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		g.deliver("one", doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u1", "db:1"))
		if got := g.got(); got != nil || g.suppressed() != nil {
			t.Errorf("operations %q, waiting %q, want none", got, g.suppressed())
		}
		if updates, err := g.mux.Release(t.Context(), "default", "db"); err == nil {
			t.Errorf("released %v", updates)
		}
		g.deliver("one", doc("b#0", "db", "u1", "db:1"))
		if diff := cmp.Diff(ops("REMOVE u1", "ADD u1"), g.got()); diff != "" {
			t.Errorf("operations when the UID is free (-want +got):\n%s", diff)
		}
	})
}
