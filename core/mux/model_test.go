package mux

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

var seeds = flag.Uint64("seeds", 300, "how many random histories are played")

// TestWhateverHappensTheLoopHasWhatItShould plays random histories of documents, policies and
// restarts, and checks the rules after each step.
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
	current := map[string][]api.Document{}
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
			g, current = enter(t, c).gated, map[string][]api.Document{}
			l.take(g)
			for uid, runs := range before {
				// If two pods waited with one UID, the other pod may have the UID now.
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
				continue // the next step comes before the answers
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
	f.become(func(q api.FilterQuestion) *api.FilterVerdict {
		strainer.letPass(q.Pod)
		return passes(q)
	})
	l.take(g)
	checkEnd(t, g, l)
}
