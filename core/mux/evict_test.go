package mux

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// evicts calls Evict for the pod with this UID and returns its error.
func (g *gated) evicts(uid types.UID) error {
	g.t.Helper()
	for _, d := range g.mux.Pods() {
		if d.Pod.UID == uid {
			return g.mux.Evict(g.t.Context(), d.Pod, denies)
		}
	}
	g.t.Fatalf("no pod %s", uid)
	return nil
}

var denies = api.Verdict{Answer: api.Deny, Reason: api.ReasonPolicyEvicted, Message: `policy "p": no`, Policy: "p"}

func (g *gated) wants(step string, want ...string) {
	g.t.Helper()
	if diff := cmp.Diff(want, g.got()); diff != "" {
		g.t.Errorf("%s, operations (-want +got):\n%s", step, diff)
	}
}

func TestAnEvictedPodIsADeniedOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk, j := newDisk(), newJudge()
		g := startGated(t, disk, j)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u2", "db:1"))
		g.wants("two pods", "ADD u1", "ADD u2")
		j.questions()
		if err := g.evicts("u1"); err != nil {
			t.Fatal(err)
		}
		g.wants("one goes", "EVICT u1 deny")
		records, _ := disk.LoadAll()
		for _, r := range records {
			if denied := r.Decided.Verdict.Answer == api.Deny; denied != (r.ID == "a#0") {
				t.Errorf("on the disk: %s with %+v", r.ID, r.Decided.Verdict)
			}
		}
		if err := g.evicts("u1"); err == nil {
			t.Error("it is evicted twice")
		}
		g.deliver("one", doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u2", "db:1"))
		g.wants("the same document")
		g.stop()

		again := startGated(t, disk, newJudge())
		again.judge.ponder()
		again.wants("after a restart", "RESTORE u1 deny", "RESTORE u2")
		again.judge.become(true, "another")
		again.judge.speak()
		again.wants("the policies let it pass", "REMOVE u1", "ADD u1")
	})
}

func TestAnEvictedPodIsJudgedAgainWhenASetOrItsDocumentChanges(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(g *gated)
		want   []string
	}{
		"a set that lets it pass": {func(g *gated) { g.judge.become(true, "another") }, ops("REMOVE u1", "ADD u1")},
		"a document that passes":  {func(g *gated) { g.deliver("one", doc("a#0", "web", "u2", "web:2")) }, ops("REMOVE u1", "ADD u2")},
		"a document that is gone": {func(g *gated) { g.deliver("one") }, ops("REMOVE u1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := startGated(t, newDisk(), newJudge())
				g.deliver("one", doc("a#0", "web", "u1", "web:1"))
				g.wants("it runs", "ADD u1")
				if err := g.evicts("u1"); err != nil {
					t.Fatal(err)
				}
				g.wants("it goes", "EVICT u1 deny")
				tc.change(g)
				g.wants(name, tc.want...)
			})
		})
	}
}

func TestANewerVersionWaitsOnWhenThePodThatRunsIsEvicted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		newer api.Document
		want  []string
	}{
		"a held one takes no place any more": {doc("a#0", "web", "u2", "wait"), ops("EVICT u1 deny", "REMOVE u1")},
		"a denied one is handed on":          {doc("a#0", "web", "u2", "evil"), ops("EVICT u1 deny", "REMOVE u1", "ADD u2 deny")},
		"so is a denied one of its UID":      {doc("a#0", "web", "u1", "evil"), ops("EVICT u1 deny", "REMOVE u1", "ADD u1 deny")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := startGated(t, newDisk(), newJudge())
				g.deliver("one", doc("a#0", "web", "u1", "web:1"))
				g.wants("it runs", "ADD u1")
				g.deliver("one", tc.newer)
				g.wants("a newer version waits")
				if err := g.evicts("u1"); err != nil {
					t.Fatal(err)
				}
				g.wants(name, tc.want...)
			})
		})
	}
}

func TestALoserThatRunsUntilTheWinnerMayIsEvicted(t *testing.T) {
	t.Parallel()
	for image, want := range map[string][]string{
		"evil": ops("EVICT u1 deny", "REMOVE u1", "ADD u2 deny"),
		"wait": ops("EVICT u1 deny", "REMOVE u1"),
	} {
		t.Run(image, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				disk, u := newDisk(), newUmpire()
				u.answer = prefers(image)
				a := enter(t, Config{Documents: disk, Resolver: u, Resolutions: &ledger{}, Gate: newJudge()})
				a.deliver("one", from("one", "web", "u1", "i"))
				a.wants("one runs", "ADD u1")
				a.deliver("two", from("two", "web", "u2", image))
				a.wants("the winner waits")
				for _, d := range a.mux.Pods() {
					if d.Pod.UID == "u1" {
						if err := a.mux.Evict(t.Context(), d.Pod, denies); err != nil {
							t.Fatal(err)
						}
					}
				}
				a.wants("the loser goes", want...)
				records, _ := disk.LoadAll()
				for _, r := range records {
					if r.Source == "one" && r.Decided != nil {
						t.Errorf("the disk still has %+v for the loser", r.Decided)
					}
				}
				a.stop()
			})
		})
	}
}

func TestNothingIsEvictedThatDoesNotRunAsItWasJudged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		disk := newDisk()
		g := startGated(t, disk, newJudge())
		g.deliver("one", doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u5", "evil"))
		g.wants("one runs, one is denied", "ADD u1", "ADD u5 deny")
		for name, p := range map[string]*v1.Pod{
			"another version": doc("a#0", "web", "u1", "web:2").Pod,
			"a denied one":    doc("b#0", "db", "u5", "evil").Pod,
			"an unknown one":  doc("c#0", "x", "u9", "x:1").Pod,
		} {
			if err := g.mux.Evict(t.Context(), p, denies); err == nil {
				t.Errorf("%s is evicted", name)
			}
		}
		disk.fill(errors.New("disk full"))
		if err := g.evicts("u1"); err == nil {
			t.Error("it is evicted, and nobody would know after a restart")
		}
		g.wants("nothing happens")
	})
}
