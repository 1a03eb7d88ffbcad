package mux

import (
	"log/slog"
	"testing"
	"time"
)

func TestAHeldManifestSaysWhetherSomethingOfItRunsOn(t *testing.T) {
	t.Parallel()
	s := newStore([]Source{{Name: "one"}})
	s.merge(delivery{source: "one", snapshot: true, docs: docs(good("m#0", "a", "ua"), bad("n#*"))}, s.merging(time.Now(), slog.New(slog.DiscardHandler)))
	s.merge(delivery{source: "one", docs: docs(bad("m#*"))}, s.merging(time.Now(), slog.New(slog.DiscardHandler)))
	kept := map[string]bool{}
	for _, p := range s.sources["one"].state(everything).Problems {
		kept[p.Document] = p.Kept
	}
	if !kept["m#*"] || kept["n#*"] || len(kept) != 2 {
		t.Errorf("kept: %v, want something of m and nothing of n", kept)
	}
}

func TestOfAManifestThatIsHeldNothingIsForgottenAndOnlyWhatIsSureTakenIn(t *testing.T) {
	t.Parallel()
	a, b, hold := good("m#0", "a", "ua"), good("m#1", "b", "ub"), bad("m#*")
	two := step{snapshot: true, docs: docs(a, b, good("n#0", "x", "ux")), want: ops("ADD ua", "ADD ub", "ADD ux")}
	playAll(t, map[string][]step{
		"a newer version of what stood there is taken in": {
			two,
			{docs: docs(good("m#0", "a", "ua", image("a:2")), bad("m#1"), hold), want: ops("UPDATE ua")},
		},
		"so is a pod where nothing stood": {
			two,
			{docs: docs(a, b, good("m#2", "c", "uc"), bad("m#3"), hold), want: ops("ADD uc")},
		},
		"not one that stood in another place of it": {
			two,
			{docs: docs(good("m#0", "b", "ub", image("b:2")), bad("m#1"), hold), want: nil},
			{docs: docs(good("m#0", "b", "ub", image("b:2"))), want: ops("REMOVE ua", "UPDATE ub")},
		},
		"nor a new one where another stood": {
			two,
			{docs: docs(good("m#0", "c", "uc"), b, bad("m#2"), hold), want: nil},
			{docs: docs(good("m#0", "c", "uc"), b), want: ops("REMOVE ua for uc", "ADD uc for ua")},
		},
		"one that comes from another manifest goes on beside what stood there": {
			two,
			{docs: docs(good("m#0", "x", "ux"), b, bad("m#2"), hold), gone: []string{"n"}, want: nil},
			{docs: docs(good("m#0", "x", "ux", image("x:2")), b, bad("m#2"), hold), want: ops("UPDATE ux")},
			{docs: docs(good("m#0", "x", "ux", image("x:3")), b), want: ops("REMOVE ua", "UPDATE ux")},
		},
		"also where it has a fault now": {
			two,
			{docs: docs(named("m#0", "x"), b, bad("m#2"), hold), gone: []string{"n"}, want: nil},
			{docs: docs(named("m#0", "x"), b), want: ops("REMOVE ua")},
		},
		"of two documents that are that one the first counts": {
			two,
			{docs: docs(good("m#0", "x", "ux"), b, bad("m#2"), hold), gone: []string{"n"}, want: nil},
			{docs: docs(good("m#0", "x", "ux"), good("m#1", "x", "uy"), bad("m#2"), hold), want: nil},
		},
		"what it named before it was held is forgotten": {
			two,
			{docs: docs(named("m#0", "x"), b), want: nil},
			{docs: docs(good("m#0", "c", "uc"), bad("m#1"), hold), want: nil},
			{gone: []string{"n"}, want: ops("REMOVE ux")},
		},
		"a document with a fault gives its place to nobody": {
			two,
			{docs: docs(named("m#0", "c"), bad("m#1"), hold), want: nil},
			{docs: docs(good("m#0", "c", "uc"), bad("m#1"), hold), want: nil},
			{docs: docs(good("m#0", "c", "uc"), b), want: ops("REMOVE ua for uc", "ADD uc for ua")},
		},
		"it is gone with its path": {
			two,
			{docs: docs(hold), want: nil},
			{gone: []string{"m"}, want: ops("REMOVE ua", "REMOVE ub")},
		},
		"and in a snapshot without it": {
			two,
			{docs: docs(hold), want: nil},
			{snapshot: true, docs: docs(good("n#0", "x", "ux")), want: ops("REMOVE ua", "REMOVE ub")},
		},
		"no other is held with it": {
			two,
			{snapshot: true, docs: docs(hold, good("m2#0", "y", "uy")), want: ops("REMOVE ux", "ADD uy")},
		},
	})
}

func TestAManifestIsDeliveredWhole(t *testing.T) {
	t.Parallel()
	first := step{snapshot: true, docs: docs(good("m#0.0", "a", "ua"), good("m#0.1", "b", "ub"), good("m#1", "c", "uc"), good("mm#0", "x", "ux"), good("ns/p", "p", "up")), want: ops("ADD ua", "ADD ub", "ADD uc", "ADD ux", "ADD up")}
	playAll(t, map[string][]step{
		"what it does not name is gone": {
			first,
			{docs: docs(good("m#0.0", "a", "ua"), good("m#1", "c", "uc")), want: ops("REMOVE ub")},
		},
		"in whatever place the others are": {
			first,
			{docs: docs(good("m#0", "c", "uc"), good("m#1", "b", "ub", image("b:2"))), want: ops("REMOVE ua", "UPDATE ub")},
		},
		"a path that is gone takes all of it, and no more": {
			first,
			{gone: []string{"m"}, want: ops("REMOVE ua", "REMOVE ub", "REMOVE uc")},
		},
		"what is in no manifest is gone by its name": {
			first,
			{gone: []string{"ns/p"}, want: ops("REMOVE up")},
			{docs: docs(good("ns/q", "q", "uq")), want: ops("ADD uq")},
		},
	})
}
