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

// TestARestartFindsEveryPodWhereItWas is about pods that run while their
// documents have come to stand for something else.
func TestARestartFindsEveryPodWhereItWas(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after []string // the precedence
		bouts         []bout
		restored      []string
		claims, asked []string
		then          []string // once the policies allow everything
	}{
		"what runs gives way to no document that has moved there and is not admitted": {
			before: []string{"two"}, after: []string{"two"},
			bouts: []bout{
				{source: "api", docs: docs(from("api", "shop", "u2", "i")), want: ops("ADD u2"), asked: ops("ADD u2")},
				{source: "two", docs: docs(from("two", "web", "u1", "i")), want: ops("ADD u1"), asked: ops("ADD u1")},
				{source: "two", docs: docs(from("two", "web", "u1", "evil", identity("shop"))), claims: ops("shop precedence: u2 GivesWay u1 Waits"), asked: ops("ADD u1 old i")},
			},
			restored: ops("RESTORE u2", "RESTORE u1"), claims: ops("shop precedence: u2 GivesWay u1 Waits"), asked: ops("ADD u1 old i"),
			then: ops("REMOVE u1 for u1", "REMOVE u2 for u1", "ADD u1 for u1"),
		},
		"nor does it where the rule is another one than when that moved": {
			after: []string{"two"},
			bouts: []bout{
				{source: "two", docs: docs(from("two", "web", "u1", "i")), want: ops("ADD u1"), asked: ops("ADD u1")},
				{source: "two", docs: docs(from("two", "web", "u1", "evil", identity("shop"))), asked: ops("UPDATE u1 old i")},
				{source: "one", docs: docs(from("one", "shop", "u2", "i")), want: ops("ADD u2"), claims: ops("shop isolate: u2 Runs u1 Waits"), asked: ops("ADD u2")},
			},
			restored: ops("RESTORE u2", "RESTORE u1"), claims: ops("shop precedence: u2 GivesWay u1 Waits"), asked: ops("UPDATE u1 old i"),
			then: ops("REMOVE u2 for u1", "UPDATE u1"),
		},
		"a pod whose place another has taken goes on where its document is": {
			bouts: []bout{
				{source: "one", docs: docs(doc("a#0", "web", "u1", "i", identity("x"))), want: ops("ADD u1"), asked: ops("ADD u1")},
				{source: "one", docs: docs(doc("a#0", "web", "u1", "evil", identity("y"))), asked: ops("UPDATE u1 old i")},
				{
					source: "one", docs: docs(doc("a#0", "web", "u2", "evil", identity("y")), doc("b#0", "db", "u3", "i", identity("x"))),
					want: ops("ADD u3"), asked: ops("ADD u2 old i for u1", "ADD u3"),
				},
			},
			restored: ops("RESTORE u1", "RESTORE u3"), asked: ops("ADD u2 old i for u1"),
			then: ops("REMOVE u1 for u2", "ADD u2 for u1"),
		},
		"and so does one whose document has moved twice": {
			bouts: []bout{
				{source: "one", docs: docs(doc("a#0", "web", "u1", "i", identity("x"))), want: ops("ADD u1"), asked: ops("ADD u1")},
				{source: "one", docs: docs(doc("a#0", "web", "u1", "evil", identity("y"))), asked: ops("UPDATE u1 old i")},
				{
					source: "one", docs: docs(doc("a#0", "shop", "u2", "evil"), doc("b#0", "db", "u3", "i", identity("x"))),
					want: ops("ADD u3"), asked: ops("ADD u2 old i for u1", "ADD u3"),
				},
			},
			restored: ops("RESTORE u1", "RESTORE u3"), asked: ops("ADD u2 old i for u1"),
			then: ops("REMOVE u1 for u2", "ADD u2 for u1"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := enter(t, Config{Precedence: test.before, Gate: newJudge()})
				a.play(test.bouts)
				a = enter(t, Config{Precedence: test.after, Gate: newJudge(), Documents: a.disk})
				if diff := cmp.Diff(test.restored, a.got()); diff != "" {
					t.Errorf("after the restart (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.claims, a.claims()); diff != "" {
					t.Errorf("conflicts after the restart (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.asked, a.judge.questions()); diff != "" {
					t.Errorf("asked after the restart (-want +got):\n%s", diff)
				}
				a.judge.become(true, "s2")
				if diff := cmp.Diff(test.then, a.got()); diff != "" {
					t.Errorf("once everything is allowed (-want +got):\n%s", diff)
				}
				a.stop()
			})
		})
	}
}

// TestWhatTakesAFreedNameReplacesWhatItsOwnDocumentWas is about a document that takes
// the name of one that goes in the same delivery.
func TestWhatTakesAFreedNameReplacesWhatItsOwnDocumentWas(t *testing.T) {
	t.Parallel()
	web, db := doc("a#0", "web", "u1", "i"), doc("b#0", "db", "u2", "i")
	both := bout{source: "one", docs: docs(web, db), want: ops("ADD u1", "ADD u2"), asked: ops("ADD u1", "ADD u2")}
	for name, test := range map[string]struct {
		bouts           []bout
		restored, asked []string
		then            []string // once the policies allow everything
	}{
		"its own pod runs until it is let pass, the other's has gone with its document": {
			bouts: []bout{both, {
				source: "one", docs: docs(doc("a#0", "db", "u3", "evil")),
				want: ops("REMOVE u2"), asked: ops("ADD u3 old i for u1"),
			}},
			restored: ops("RESTORE u1"), asked: ops("ADD u3 old i for u1"), then: ops("REMOVE u1 for u3", "ADD u3 for u1"),
		},
		"also where its own pod already waits to be replaced": {
			bouts: []bout{
				both,
				{source: "one", docs: docs(doc("a#0", "shop", "u4", "evil"), db), asked: ops("ADD u4 old i for u1")},
				{source: "one", docs: docs(doc("a#0", "db", "u3", "evil")), want: ops("REMOVE u2"), asked: ops("ADD u3 old i for u1")},
			},
			restored: ops("RESTORE u1"), asked: ops("ADD u3 old i for u1"), then: ops("REMOVE u1 for u3", "ADD u3 for u1"),
		},
		"also where the other's waits to be replaced": {
			bouts: []bout{
				both,
				{source: "one", docs: docs(web, doc("b#0", "db", "u4", "evil")), asked: ops("ADD u4 old i for u2")},
				{source: "one", docs: docs(doc("a#0", "db", "u3", "evil")), want: ops("REMOVE u2"), asked: ops("ADD u3 old i for u1")},
			},
			restored: ops("RESTORE u1"), asked: ops("ADD u3 old i for u1"), then: ops("REMOVE u1 for u3", "ADD u3 for u1"),
		},
		"the other's is replaced where nothing of its own runs": {
			bouts: []bout{
				{source: "one", docs: docs(db), want: ops("ADD u2"), asked: ops("ADD u2")},
				{source: "one", docs: docs(doc("a#0", "db", "u3", "evil")), asked: ops("ADD u3 old i for u2")},
			},
			restored: ops("RESTORE u2"), asked: ops("ADD u3 old i for u2"), then: ops("REMOVE u2 for u3", "ADD u3 for u2"),
		},
		"the other's goes on where it is that pod that has moved": {
			bouts:    []bout{both, {source: "one", docs: docs(doc("a#0", "db", "u2", "i")), want: ops("REMOVE u1")}},
			restored: ops("RESTORE u2"),
		},
		"a name is kept where two documents trade theirs": {
			bouts: []bout{both, {
				source: "one", docs: docs(doc("a#0", "db", "u3", "evil"), doc("b#0", "web", "u4", "j")),
				want: ops("REMOVE u1 for u4", "ADD u4 for u1"), asked: ops("ADD u4 old i for u1", "ADD u3 old i for u2"),
			}},
			restored: ops("RESTORE u2", "RESTORE u4 for u1"), asked: ops("ADD u3 old i for u2"), then: ops("REMOVE u2 for u3", "ADD u3 for u2"),
		},
		"a name is kept in one manifest": {
			bouts: []bout{
				{source: "one", docs: docs(doc("m#0", "web", "u1", "i"), doc("m#1", "db", "u2", "i")), want: ops("ADD u1", "ADD u2"), asked: ops("ADD u1", "ADD u2")},
				{source: "one", docs: docs(doc("m#0", "db", "u3", "evil")), want: ops("REMOVE u1"), asked: ops("ADD u3 old i for u2")},
			},
			restored: ops("RESTORE u2"), asked: ops("ADD u3 old i for u2"), then: ops("REMOVE u2 for u3", "ADD u3 for u2"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := enter(t, Config{Gate: newJudge()})
				a.play(test.bouts)
				a = enter(t, Config{Gate: newJudge(), Documents: a.disk})
				if diff := cmp.Diff(test.restored, a.got()); diff != "" {
					t.Errorf("after the restart (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(test.asked, a.judge.questions()); diff != "" {
					t.Errorf("asked after the restart (-want +got):\n%s", diff)
				}
				a.judge.become(true, "s2")
				if diff := cmp.Diff(test.then, a.got()); diff != "" {
					t.Errorf("once everything is allowed (-want +got):\n%s", diff)
				}
				a.stop()
			})
		})
	}
}

// TestAVerdictCountsForWhereItsDocumentIs is about one that a rejected pod gets while
// its document moves.
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

// TestHowLongAPodWasHeldBackDoesNotCountForAnother is about what the disk has of
// that, where a restart comes before the document is another pod.
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

// heldSince is for how long a filter has held back what waits under a UID, -1
// where it holds back nothing.
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
