package mux

import (
	"cmp"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux/conflict"
	"github.com/wardlet/wardlet/core/pod"
)

func check(t *testing.T, step int, g *gated, l *loop, current map[string][]api.Document) {
	t.Helper()
	g.judge.questions()
	for uid := range l.pods {
		if !g.mux.Wanted(uid) {
			t.Errorf("step %d: the loop has %s, which is not wanted", step, uid)
		}
	}
	g.mux.mu.RLock()
	defer g.mux.mu.RUnlock()
	for source, documents := range current {
		checkSource(t, step, g, source, documents)
	}
	checkContests(t, step, g)
	for uid, sl := range g.mux.store.owner {
		if sl.sent == nil || sl.sent.pod.UID != uid {
			t.Errorf("step %d: %s is owned by a slot that does not have it", step, uid)
		}
		if runs, has := l.pods[uid]; !has || runs == sl.sent.denied() {
			t.Errorf("step %d: %s: the loop has it %v, running %v; the mux thinks denied %v", step, uid, has, runs, sl.sent.denied())
		}
	}
	for uid := range l.pods {
		if g.mux.store.owner[uid] == nil {
			t.Errorf("step %d: the loop has %s, the mux does not know", step, uid)
		}
	}
	checkInstances(t, step, g.mux.store)
}

// checkInstances checks that the instance recorded for each pod that waits or was sent is the
// instance of this pod.
func checkInstances(t *testing.T, step int, s *store) {
	t.Helper()
	for _, w := range s.pending.All() {
		if w.judged != (w.instance != "") || w.judged && w.instance != instanceOf(t, w.pod) {
			t.Errorf("step %d: %s waits as the instance %q, judged %v", step, w.pod.UID, w.instance, w.judged)
		}
	}
	for uid, sl := range s.owner {
		have := sl.sent.instance
		if have != "" && sl.runs() && sl.sent.pod.DeletionTimestamp == nil && have != instanceOf(t, sl.sent.pod) {
			t.Errorf("step %d: the loop has %s as another instance than %s", step, uid, have)
		}
	}
}

// hold returns the pods of a source's documents, by identity.
func (g *gated) hold(source string) map[types.NamespacedName][]*v1.Pod {
	g.mux.mu.RLock()
	defer g.mux.mu.RUnlock()
	had := map[types.NamespacedName][]*v1.Pod{}
	src := g.mux.store.sources[source]
	for id := range src.slots {
		for _, e := range src.docs.Of(id) {
			had[id] = append(had[id], e.Pod)
		}
	}
	return had
}

// checkClaims checks that a pod keeps its last valid version if only a document with a fault
// names it. had are the pods before the delivery of documents.
func checkClaims(t *testing.T, step int, g *gated, source string, documents []api.Document, had map[types.NamespacedName][]*v1.Pod) {
	t.Helper()
	now := g.hold(source)
	valid := map[types.NamespacedName]bool{}
	uids := map[types.UID]bool{}
	for _, d := range documents {
		if d.Pod != nil {
			valid[pod.Identity(d.Pod)], uids[d.Pod.UID] = true, true
		}
	}
	for _, d := range documents {
		before := had[d.Claims]
		if d.Pod != nil || valid[d.Claims] || len(before) == 0 || uids[before[0].UID] {
			continue // the pod before may have another identity now
		}
		if len(now[d.Claims]) == 0 || len(before) == 1 && now[d.Claims][0] != before[0] {
			t.Errorf("step %d: %s of %s would be %s, of which the last valid version was lost", step, d.ID, source, d.Claims)
		}
	}
}

// check compares the pods that a restart would restore with the pods that the loop has.
func (d *disk) check(t *testing.T, step int, g *gated) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	decided := map[types.UID]bool{}
	for _, r := range d.records {
		if r.Decided != nil {
			decided[cmp.Or(r.Decided.Pod, r.Pod).UID] = true
		}
	}
	g.mux.mu.RLock()
	defer g.mux.mu.RUnlock()
	for uid := range g.mux.store.owner {
		if !decided[uid] {
			t.Errorf("step %d: %s was handed on, and a restart would not know", step, uid)
		}
		delete(decided, uid)
	}
	for uid := range decided {
		t.Errorf("step %d: a restart would begin with %s, which was not handed on", step, uid)
	}
	d.checkSuppressed(t, step, g)
}

// checkContests checks that the losers of each conflict do not wait for a verdict, and do not
// run beside the winner.
func checkContests(t *testing.T, step int, g *gated) {
	t.Helper()
	for _, c := range g.mux.store.conflicts.Contests() {
		rivals := g.mux.store.claimants(c.Identity)
		if len(rivals) < 2 {
			t.Errorf("step %d: %s is contested by %d", step, c.Identity, len(rivals))
		}
		if c.Winner == conflict.NoWinner {
			continue
		}
		winner := rivals[c.Winner]
		for _, sl := range rivals {
			if sl != winner && sl.pending != nil {
				t.Errorf("step %d: %s: a loser waits for a verdict", step, c.Identity)
			}
			if sl != winner && sl.sent != nil && winner.runsAsIdentity() {
				t.Errorf("step %d: %s: %s and %s run", step, c.Identity, sl.sent.pod.UID, winner.sent.pod.UID)
			}
		}
	}
}

// checkSource checks the pods of a source after it has delivered these documents.
func checkSource(t *testing.T, step int, g *gated, source string, documents []api.Document) {
	t.Helper()
	var uids []types.UID
	for _, d := range documents {
		if d.Pod != nil {
			uids = append(uids, d.Pod.UID)
		}
	}
	for id, sl := range g.mux.store.sources[source].slots {
		if sl.first == nil {
			t.Errorf("step %d: slot %s holds nothing and is still there", step, id)
		}
		switch w := sl.pending; {
		case sl.chosen == nil, sl.clash != "":
		case w != nil && w.awaitingMerge && sl.ruling != nil && sl.ruling.Pending: // the umpire is silent
		case w != nil && w.judged && w.verdict == nil:
			t.Errorf("step %d: %s has no verdict although everything was answered", step, id)
		case w != nil && w.hold() != nil:
			checkSuppression(t, step, g, w)
		case w != nil && (w.verdict.Answer == api.Allow || w.passes()):
			t.Errorf("step %d: %s waits with a verdict that lets it pass", step, id)
		case w == nil && (sl.sent == nil || sl.sent.pod.UID != sl.chosen.Pod.UID):
			t.Errorf("step %d: %s neither waits nor was sent", step, id)
		}
		if sl.sent != nil && sl.chosen != nil && sl.source.docs.Fault(sl.chosen.ID) == nil && sl.pending == nil && sl.clash == "" && !slices.Contains(uids, sl.sent.pod.UID) {
			t.Errorf("step %d: %s runs, which no document names", step, sl.sent.pod.UID)
		}
	}
}
