package mux

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
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
	// successor is what took the place of a pod.
	successor map[types.UID]types.UID
}

func (l *loop) take(g *gated) {
	l.t.Helper()
	synctest.Wait()
	for len(g.mux.Updates()) > 0 {
		u := <-g.mux.Updates()
		for _, c := range u.Changes {
			uid := c.Pod().UID
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
			default:
				if !has {
					l.t.Errorf("%s of %s, which is not there", c.Op, uid)
				}
			}
			v := c.Verdict
			switch {
			case c.Op == pod.Remove:
			case v == nil:
				l.t.Errorf("%s of %s without a verdict", c.Op, uid)
			case v.Answer == pod.Hold:
				l.t.Errorf("%s of %s with a verdict of hold", c.Op, uid)
			case v.Answer == pod.Allow && !g.judge.allowed[instanceOf(l.t, c.New)]:
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
			synctest.Test(t, func(t *testing.T) { playRandom(t, seed) })
		})
	}
}

func playRandom(t *testing.T, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	d, j, l := newDisk(), newJudge(), &loop{t: t, pods: map[types.UID]bool{}, successor: map[types.UID]types.UID{}}
	g := startGated(t, d, j)
	var current []pod.Document
	seen := false
	for step := range 40 {
		switch random.IntN(10) {
		case 0:
			l.take(g)
			g.stop()
			before := maps.Clone(l.pods)
			l.pods = map[types.UID]bool{}
			lenient, set, allowed := j.lenient, j.set, j.allowed
			j = newJudge()
			j.lenient, j.set, j.allowed = lenient, set, allowed
			g, seen = startGated(t, d, j), false
			l.take(g)
			for uid, runs := range before {
				// Of two that wait with one UID the other one may get it now.
				if runs && !l.pods[uid] && !l.pods[l.successor[uid]] {
					t.Errorf("step %d: %s ran before the restart and neither it nor its successor does after it", step, uid)
				}
			}
		case 1:
			j.become(random.IntN(2) == 0, fmt.Sprint("s", step))
		case 2:
			time.Sleep(time.Duration(random.IntN(400)) * time.Second)
		default:
			current, seen = randomDocuments(random), true
			g.deliver("one", current...)
			if random.IntN(3) == 0 {
				continue // the next one comes before the answers
			}
		}
		l.take(g)
		check(t, step, g, l, current, seen)
	}
}

func instanceOf(t *testing.T, p *v1.Pod) string {
	t.Helper()
	instance, err := pod.Instance(p)
	if err != nil {
		t.Fatal(err)
	}
	return instance
}

// randomDocuments are up to four documents with names and UIDs that collide
// now and then.
func randomDocuments(random *rand.Rand) []pod.Document {
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
		}
		all = append(all, doc(id, name, uid, img))
	}
	return all
}

func check(t *testing.T, step int, g *gated, l *loop, current []pod.Document, seen bool) {
	t.Helper()
	g.judge.questions()
	for uid := range l.pods {
		if !g.mux.Wanted(uid) {
			t.Errorf("step %d: the loop has %s, which is not wanted", step, uid)
		}
	}
	if !seen {
		return
	}
	var uids []types.UID
	for _, d := range current {
		uids = append(uids, d.Pod.UID)
	}
	g.mux.mu.RLock()
	defer g.mux.mu.RUnlock()
	for id, sl := range g.mux.store.sources["one"].slots {
		if len(sl.entries) == 0 && (sl.successor == nil || sl.sent == nil) {
			t.Errorf("step %d: slot %s holds nothing and is still there", step, id)
		}
		switch w := sl.wait; {
		case sl.chosen == nil, sl.clash != "":
		case w != nil && w.verdict == nil:
			t.Errorf("step %d: %s has no verdict although everything was answered", step, id)
		case w != nil && (w.verdict.Answer == pod.Allow || w.passes()):
			t.Errorf("step %d: %s waits with a verdict that lets it pass", step, id)
		case w == nil && (sl.sent == nil || sl.sent.pod.UID != sl.chosen.pod.UID):
			t.Errorf("step %d: %s neither waits nor was sent", step, id)
		}
		if sl.sent != nil && sl.chosen != nil && sl.wait == nil && sl.clash == "" && !slices.Contains(uids, sl.sent.pod.UID) {
			t.Errorf("step %d: %s runs, which no document names", step, sl.sent.pod.UID)
		}
	}
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
}
