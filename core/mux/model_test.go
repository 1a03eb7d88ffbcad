package mux

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

var seeds = flag.Uint64("seeds", 300, "how many random histories are played")

// loop is a sync loop that only keeps books.
type loop struct {
	t *testing.T
	// pods are by UID, true for one that may run.
	pods map[types.UID]bool
	// restored are those that the last restart brought back.
	restored map[types.UID]bool
	// successor is what took the place of a pod.
	successor map[types.UID]types.UID
	// newest are the pods as they were handed on last.
	newest map[types.UID]*v1.Pod
	// filtered is what filters said, nil where none is asked.
	filtered *strainer
}

func (l *loop) take(g *gated) {
	l.t.Helper()
	synctest.Wait()
	for len(g.mux.Updates()) > 0 {
		u := <-g.mux.Updates()
		for _, c := range u.Changes {
			uid := c.Pod().UID
			l.t.Logf("  %s %s for %q of %s", c.Op, uid, c.Replaces, c.Source)
			_, has := l.pods[uid]
			switch c.Op {
			case pod.Remove:
				if !has {
					l.t.Errorf("REMOVE of %s, which was never handed on", uid)
				}
				delete(l.pods, uid)
				l.successor[uid] = c.Replaces
			case pod.Add, pod.Restore:
				if has {
					l.t.Errorf("%s of %s, which is there already", c.Op, uid)
				}
				l.pods[uid] = c.Verdict == nil || c.Verdict.Answer == pod.Allow
				if c.Op == pod.Restore {
					l.restored[uid] = true
				}
			default:
				if !has {
					l.t.Errorf("%s of %s, which is not there", c.Op, uid)
				}
			}
			v := c.Verdict
			l.checkFinal(&c)
			l.filtered.check(l.t, &c)
			switch {
			case c.Op == pod.Remove:
			case v == nil:
				l.t.Errorf("%s of %s without a verdict", c.Op, uid)
			case v.Answer == pod.Hold:
				l.t.Errorf("%s of %s with a verdict of hold", c.Op, uid)
			case v.Answer == pod.Allow && !g.judge.allowed[cmp.Or(c.Origin.Instance, instanceOf(l.t, c.New))]:
				l.t.Errorf("%s of %s, an instance that was never allowed: %s", c.Op, uid, c.New.Spec.Containers[0].Image)
			}
		}
	}
}

// TestWhateverHappensTheLoopHasWhatItShould plays random histories of
// documents, policies and restarts, and holds the outcome against the rules.
func TestWhateverHappensTheLoopHasWhatItShould(t *testing.T) {
	t.Parallel()
	for seed := range *seeds {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { playRandom(t, rand.New(rand.NewPCG(seed, 1)), 40) })
		})
	}
}

func playRandom(t *testing.T, random *rand.Rand, steps int) {
	t.Helper()
	answers := &ledger{}
	d, j, l := newDisk(), newJudge(), &loop{t: t, newest: map[types.UID]*v1.Pod{}, restored: map[types.UID]bool{}, pods: map[types.UID]bool{}, successor: map[types.UID]types.UID{}}
	u := randomUmpire(random)
	changing := random.IntN(3) == 0
	if changing {
		labels(j)
	}
	strainer := newStrainer(random.Uint64())
	var f *sieve
	setting := func() Config {
		c := Config{Documents: d, Gate: j, Resolutions: answers}
		if f, l.filtered = nil, nil; random.IntN(4) != 0 {
			f, l.filtered = newSieve(strainer.answer), strainer
			c.Filter = f
		}
		switch random.IntN(3) {
		case 0:
			c.Precedence = []string{"two", "one"}
		case 1:
			c.Precedence = []string{"api"}
		}
		if u != nil {
			c.Resolver = u
		}
		return c
	}
	c := setting()
	g := enter(t, c).gated
	current := map[string][]pod.Document{}
	give := func() {}
	for step := range steps {
		give()
		if give = func() {}; f != nil && random.IntN(3) == 0 {
			give = f.postpone()
		}
		switch random.IntN(12) {
		case 0:
			l.take(g)
			g.stop()
			t.Logf("step %d: restart", step)
			before := maps.Clone(l.pods)
			l.pods = map[types.UID]bool{}
			lenient, set, allowed := j.lenient, j.set, j.allowed
			j = newJudge()
			j.lenient, j.set, j.allowed = lenient, set, allowed
			if changing {
				labels(j)
			}
			d.reread(t)
			l.restored = map[types.UID]bool{}
			changed := random.IntN(2) == 0
			if changed {
				c = setting()
			}
			if c.Gate = j; !changed && f != nil {
				f = newSieve(strainer.answer)
				c.Filter = f
			}
			give = func() {}
			g, current = enter(t, c).gated, map[string][]pod.Document{}
			l.take(g)
			for uid, runs := range before {
				// Of two that wait with one UID the other one may get it now.
				kept := l.pods[uid] || l.pods[l.successor[uid]]
				if runs && !kept && (!changed || !l.restored[uid]) {
					t.Errorf("step %d: %s ran before the restart and neither it nor its successor does after it", step, uid)
				}
			}
		case 1:
			lenient := random.IntN(2) == 0
			t.Logf("step %d: policies that are lenient: %v", step, lenient)
			j.become(lenient, fmt.Sprint("s", step))
		case 2:
			time.Sleep(time.Duration(random.IntN(400)) * time.Second)
		case 3:
			if u != nil {
				u.become(u.answer)
			}
		case 4:
			if f != nil {
				t.Logf("step %d: other filters", step)
				strainer.change(random.Uint64())
				f.become(strainer.answer)
			}
		case 5:
			name := fmt.Sprint("n", random.IntN(4))
			before := len(g.mux.Suppressed())
			updates, err := g.mux.Release(t.Context(), "default", name)
			t.Logf("step %d: release %s: %d of %d, %v", step, name, len(updates), before, err)
			for i := range updates {
				strainer.release(updates[i].UID)
			}
		default:
			source := []string{"one", "one", "two", "api"}[random.IntN(4)]
			current[source] = randomDocuments(random, source)
			t.Logf("step %d: %s gives %s", step, source, described(current[source]))
			had := g.hold(source)
			g.deliver(source, current[source]...)
			checkClaims(t, step, g, source, current[source], had)
			if random.IntN(3) == 0 {
				continue // the next one comes before the answers
			}
		}
		l.take(g)
		check(t, step, g, l, current)
		d.check(t, step, g)
	}
	give()
	if f == nil {
		return
	}
	j.become(true, "end")
	l.take(g)
	f.become(func(q pod.FilterQuestion) *pod.FilterVerdict {
		strainer.letPass(q.Pod)
		return passes(q)
	})
	l.take(g)
	checkEnd(t, g, l)
}

func instanceOf(t *testing.T, p *v1.Pod) string {
	t.Helper()
	instance, err := pod.Instance(p)
	if err != nil {
		t.Fatal(err)
	}
	return instance
}

// randomUmpire answers at random, but the same to the same contest, and to one
// in four never; nil one time in two.
func randomUmpire(random *rand.Rand) *umpire {
	if random.IntN(2) == 0 {
		return nil
	}
	u, salt := newUmpire(), random.Uint64()
	u.answer = func(c pod.Contest) *pod.Resolution {
		h := fnv.New64a()
		fmt.Fprint(h, salt, c.Identity.Name)
		for _, candidate := range c.Candidates {
			fmt.Fprint(h, candidate.Pod.UID)
		}
		choices := []pod.Choice{pod.ChooseWinner, pod.ChooseWinner, pod.ChooseCurrent, pod.ChooseNone, pod.NoChoice}
		if n := h.Sum64(); n%4 != 0 {
			r := &pod.Resolution{Choice: choices[n%5], Winner: int(n>>8) % 3}
			if r.Choice == pod.ChooseWinner && r.Winner < len(c.Candidates) && n>>16%2 == 0 {
				r.Mutation = madeOf(c.Candidates[r.Winner].Pod, "of-"+c.Identity.Name)
			}
			return r
		}
		return nil
	}
	return u
}

func described(documents []pod.Document) string {
	var all []string
	for _, d := range documents {
		if d.Pod == nil {
			all = append(all, d.ID+" would be "+d.Claims.Name)
			continue
		}
		all = append(all, d.ID+"="+d.Pod.Name+":"+string(d.Pod.UID))
	}
	return strings.Join(all, " ")
}

// randomDocuments are up to four documents with names and UIDs that collide
// now and then.
func randomDocuments(random *rand.Rand, source string) []pod.Document {
	var all []pod.Document
	images := []string{"web:1", "web:2", "evil:1", "wait:1"}
	for _, id := range []string{"a#0", "b#0", "c#0", "d#0"} {
		if random.IntN(4) == 0 {
			continue
		}
		name, img := fmt.Sprint("n", random.IntN(4)), images[random.IntN(len(images))]
		uid := types.UID(name + "-" + img)
		if random.IntN(5) == 0 {
			uid = types.UID(fmt.Sprint("fixed", random.IntN(2)))
		} else if random.IntN(4) != 0 {
			uid += types.UID("-" + source)
		}
		d := doc(id, name, uid, img, func(p *v1.Pod) {
			if random.IntN(6) == 0 {
				p.Annotations[pod.AnnotationIdentity] = fmt.Sprint("n", random.IntN(4))
			}
			if random.IntN(4) == 0 {
				p.Status.Phase = []v1.PodPhase{v1.PodPending, v1.PodRunning}[random.IntN(2)]
			}
			if p.Annotations[pod.AnnotationSource] = source; source == "api" {
				delete(p.Annotations, pod.AnnotationHash)
			}
		})
		if random.IntN(5) == 0 {
			claims := types.NamespacedName{}
			if random.IntN(5) != 0 {
				claims = pod.Identity(d.Pod)
			}
			d = wouldBe(id, claims)
		}
		all = append(all, d)
	}
	return all
}

func check(t *testing.T, step int, g *gated, l *loop, current map[string][]pod.Document) {
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
	if n := len(g.mux.store.retries); n > len(g.mux.store.parked) {
		t.Errorf("step %d: %d waits are to be asked again, of %d", step, n, len(g.mux.store.parked))
	}
}

// hold gives the pods that documents of a source are, by identity.
func (g *gated) hold(source string) map[types.NamespacedName][]*v1.Pod {
	g.mux.mu.RLock()
	defer g.mux.mu.RUnlock()
	had := map[types.NamespacedName][]*v1.Pod{}
	for id, sl := range g.mux.store.sources[source].slots {
		for _, e := range sl.entries {
			had[id] = append(had[id], e.pod)
		}
	}
	return had
}

// checkClaims holds what became of the pods of a source against the rule: one
// that only a document with a fault names is still its last valid version.
func checkClaims(t *testing.T, step int, g *gated, source string, documents []pod.Document, had map[types.NamespacedName][]*v1.Pod) {
	t.Helper()
	now := g.hold(source)
	valid := map[types.NamespacedName]bool{}
	for _, d := range documents {
		if d.Pod != nil {
			valid[pod.Identity(d.Pod)] = true
		}
	}
	for _, d := range documents {
		before := had[d.Claims]
		if d.Pod != nil || valid[d.Claims] || len(before) == 0 {
			continue
		}
		if len(now[d.Claims]) == 0 || len(before) == 1 && now[d.Claims][0] != before[0] {
			t.Errorf("step %d: %s of %s would be %s, of which the last valid version was lost", step, d.ID, source, d.Claims)
		}
	}
}

// check holds what a restart would begin with against what the loop has.
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

// checkContests holds who runs of those that claim one identity against the
// rule: a loser only while the winner does not, as what it stands for.
func checkContests(t *testing.T, step int, g *gated) {
	t.Helper()
	for id, c := range g.mux.store.contests {
		if len(c.rivals) < 2 {
			t.Errorf("step %d: %s is contested by %d", step, id, len(c.rivals))
		}
		if c.winner == nil {
			continue
		}
		for _, sl := range c.rivals {
			if sl != c.winner && sl.wait != nil {
				t.Errorf("step %d: %s: a loser waits for a verdict", step, id)
			}
			if sl != c.winner && sl.sent != nil && c.winner.stands() {
				t.Errorf("step %d: %s: %s and %s run", step, id, sl.sent.pod.UID, c.winner.sent.pod.UID)
			}
		}
	}
}

// checkSource holds what became of the newest documents of a source against
// the rules.
func checkSource(t *testing.T, step int, g *gated, source string, documents []pod.Document) {
	t.Helper()
	var uids []types.UID
	for _, d := range documents {
		if d.Pod != nil {
			uids = append(uids, d.Pod.UID)
		}
	}
	for id, sl := range g.mux.store.sources[source].slots {
		if len(sl.entries) == 0 && (sl.successor == nil || sl.sent == nil) {
			t.Errorf("step %d: slot %s holds nothing and is still there", step, id)
		}
		switch w := sl.wait; {
		case sl.chosen == nil, sl.clash != "":
		case w != nil && w.unbased && sl.contest != nil && sl.contest.pending: // the umpire is silent
		case w != nil && w.judged && w.verdict == nil:
			t.Errorf("step %d: %s has no verdict although everything was answered", step, id)
		case w != nil && w.suppressed() != nil:
			checkSuppression(t, step, g, w)
		case w != nil && (w.verdict.Answer == pod.Allow || w.passes()):
			t.Errorf("step %d: %s waits with a verdict that lets it pass", step, id)
		case w == nil && (sl.sent == nil || sl.sent.pod.UID != sl.chosen.pod.UID):
			t.Errorf("step %d: %s neither waits nor was sent", step, id)
		}
		if sl.sent != nil && sl.chosen != nil && sl.chosen.fault == nil && sl.wait == nil && sl.clash == "" && !slices.Contains(uids, sl.sent.pod.UID) {
			t.Errorf("step %d: %s runs, which no document names", step, sl.sent.pod.UID)
		}
	}
}
