package mux

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/state"
)

// TestAVerdictCountsForWhereItsDocumentIs moves the document of a rejected pod while a new
// verdict is pending. The verdict must apply to the document at its new place.
func TestAVerdictCountsForWhereItsDocumentIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := enter(t, Config{Gate: newJudge()})
		a.deliver("one", doc("b#0", "web", "u1", "evil"))
		if diff := cmp.Diff(ops("ADD u1 deny"), a.got()); diff != "" {
			t.Errorf("what is handed on (-want +got):\n%s", diff)
		}
		a.judge.ponder()
		a.judge.become(true, "s2")
		synctest.Wait()
		a.deliver("one", doc("a#0", "web", "u1", "evil"))
		a.judge.speak()
		if diff := cmp.Diff(ops("REMOVE u1", "ADD u1"), a.got()); diff != "" {
			t.Errorf("once it is allowed (-want +got):\n%s", diff)
		}
		a.stop()
		if _, ok := a.disk.records[state.DocumentID{Source: "one", ID: "a#0"}]; !ok || len(a.disk.records) != 1 {
			t.Errorf("documents on the disk: %v, want a#0 only", slices.Collect(maps.Keys(a.disk.records)))
		}
		a = enter(t, Config{Gate: newJudge(), Documents: a.disk})
		if diff := cmp.Diff(ops("RESTORE u1"), a.got()); diff != "" {
			t.Errorf("after the restart (-want +got):\n%s", diff)
		}
		a.stop()
	})
}

// TestHowLongAPodWasHeldBackDoesNotCountForAnother checks that the stored start of a hold is
// not used for another pod, if the document describes another pod after a restart.
func TestHowLongAPodWasHeldBackDoesNotCountForAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		later := defers(5 * time.Minute)
		before := enter(t, Config{Filter: newSieve(later)})
		before.deliver("one", doc("a#0", "web", "u1", "i"), doc("b#0", "shop", "u2", "i"), doc("c#0", "db", "u3", "i"))
		before.deliver("api", from("api", "shop", "u8", "i"), from("api", "db", "u9", "i"))
		before.got()
		before.stop()
		time.Sleep(20 * time.Minute)
		a := enter(t, Config{Filter: newSieve(later), Documents: before.disk, Precedence: []string{"api"}})
		a.got()
		time.Sleep(10 * time.Minute)
		a.deliver("one", doc("a#0", "else", "u4", "i"), doc("b#0", "web", "u1", "i"), doc("c#0", "mart", "u5", "i"))
		if since := a.heldSince("u4"); since != 0 {
			t.Errorf("u4 is new, and held back for %s", since)
		}
		if since := a.heldSince("u5"); since != 0 {
			t.Errorf("u5 is what nothing was before, and held back for %s", since)
		}
		if since := a.heldSince("u1"); since != 30*time.Minute {
			t.Errorf("u1 has moved to another document, and is held back for %s, want 30 min", since)
		}
		if _, err := a.mux.Release(t.Context(), "default", "web"); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(ops("ADD u1"), a.got()); diff != "" {
			t.Errorf("once it is released (-want +got):\n%s", diff)
		}
		a.deliver("one", doc("a#0", "else", "u4", "i"), doc("b#0", "web", "u1", "i:2"), doc("c#0", "mart", "u5", "i"))
		if since := a.heldSince("u1"); since != 0 {
			t.Errorf("u1 went on, and its update is held back for %s", since)
		}
		a.stop()
	})
}

// heldSince returns how long a filter has held back the version with this UID, or -1 if no
// filter holds it back.
func (a *arena) heldSince(uid types.UID) time.Duration {
	a.t.Helper()
	synctest.Wait()
	for _, u := range a.mux.Suppressed() {
		if u.UID == uid {
			return time.Since(u.Since)
		}
	}
	return -1
}

// TestMux_podWithAnotherIdentityRunsOn changes the identity annotation of a running pod while
// an update of the pod waits.
func TestMux_podWithAnotherIdentityRunsOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := enter(t, Config{Gate: newJudge()})
		a.deliver("api", from("api", "web", "u1", "i"))
		if diff := cmp.Diff(ops("ADD u1"), a.got()); diff != "" {
			t.Errorf("at first (-want +got):\n%s", diff)
		}
		a.deliver("api", from("api", "web", "u1", "evil"))
		a.deliver("api", from("api", "web", "u1", "evil", identity("shop")))
		if got := a.got(); got != nil {
			t.Errorf("with another identity: %q, want that it runs on", got)
		}
		a.judge.become(true, "s2")
		if diff := cmp.Diff(ops("UPDATE u1"), a.got()); diff != "" {
			t.Errorf("once it is allowed (-want +got):\n%s", diff)
		}
		a.stop()
		again := enter(t, Config{Gate: newJudge(), Documents: a.disk})
		if diff := cmp.Diff(ops("RESTORE u1"), again.got()); diff != "" {
			t.Errorf("after a restart (-want +got):\n%s", diff)
		}
		again.stop()
	})
}
