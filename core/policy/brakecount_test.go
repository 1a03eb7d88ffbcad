package policy

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/review"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

const (
	ofShop = "[match]\nnamespaces = [\"shop\"]"
	ofProd = "[match]\nnamespaces = [\"prod\"]"
)

// prodPods returns n pods of another namespace than those of somePods.
func prodPods(n int) (pods []review.RunningPod) {
	for i := range n {
		pods = append(pods, runs(fmt.Sprintf("prod%d", i), func(p *v1.Pod) { p.Namespace = "prod" }))
	}
	return pods
}

func TestAnEditForOtherPodsHasAShareOfThose(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		prod          int
		first, second string
		// gone is the number of all evicted pods, including the one that the first content
		// evicted.
		gone int
	}{
		"of fewer it is less": {9, ofShop, ofProd, 1},
		"of more it is more":  {9, ofProd, ofShop, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				n := newRunning(append(somePods(100), prodPods(tc.prod)...)...)
				d.Policy("a", "deny", onChangeEvicts, tc.first)
				p := reviewing(t, d, s, n, evictionsIn(newCounts()))
				run(t, p)
				if tc.first == ofProd {
					settled() // with so few pods the probation lasts long
				}
				for len(n.gone()) < 1 {
					time.Sleep(time.Second)
				}
				d.Policy("a", "deny", onChangeEvicts, tc.second)
				settled()
				if got := n.gone(); len(got) != tc.gone {
					t.Errorf("evicted %v, want %d", got, tc.gone)
				}
			})
		})
	}
}

func TestTheShareIsOneOfThePodsThatAreJudgedNow(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning(somePods(100)...)
		d.Policy("a", "deny", onChangeEvicts)
		var calls atomic.Int64
		s.Edit = func(_ string, r *wasm.Result) {
			if n := calls.Add(1); n > 100 && n < 1000 {
				r.Answer = api.Allow
			}
		}
		p := reviewing(t, d, s, n, evictionsIn(newCounts()))
		run(t, p)
		settled()
		before := len(n.gone())
		n.mu.Lock()
		for _, r := range somePods(100)[9:] {
			delete(n.pods, r.Pod.UID)
		}
		n.mu.Unlock()
		time.Sleep(time.Minute)
		calls.Store(1000)
		d.Policy("b", "allow") // another set
		settled()
		if got := len(n.gone()); before != 1 || got != 1 {
			t.Errorf("evicted %d, then %d of 9 pods that are left", before, got-before)
		}
	})
}

func TestAnotherNameIsNoConfirmation(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning(somePods(50)...)
		p := reviewing(t, d, s, n, evictionsIn(newCounts()))
		run(t, p)
		for i := range 4 {
			d.Policy(fmt.Sprintf("deny-%d", i), "deny", onChangeEvicts)
			for range 100 {
				if i > 0 || len(n.gone()) < 2 { // the first policy is replaced while its evictions are under way
					time.Sleep(5 * time.Second)
				}
			}
			d.Remove(fmt.Sprintf("deny-%d.toml", i))
		}
		if got := n.gone(); len(got) != 5 {
			t.Errorf("%d of 50 evicted, want 5", len(got))
		}
		expectPace(t, n)
		d.Policy("other", "deny # another module", onChangeEvicts)
		settled()
		if got := n.gone(); len(got) != 5+4 {
			t.Errorf("%d of 50 evicted, want 4 more", len(got))
		}
	})
}

func TestAConfirmationEndsWhenItsContentIsOutOfForceForADay(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		away    time.Duration
		restart bool
		want    int
	}{
		"it does not after a day":           {25 * time.Hour, false, 5},
		"nor when it comes with a new life": {25 * time.Hour, true, 5},
		"a life in between is no end of it": {20 * time.Hour, true, 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				n, kept := newRunning(somePods(50)...), newCounts()
				d.Policy("a", "allow", onChangeEvicts)
				p := reviewing(t, d, s, n, evictionsIn(kept))
				stop := run(t, p)
				time.Sleep(time.Minute)
				d.Policy("a", "deny", onChangeEvicts)
				_, err := p.Reload(t.Context(), "")
				policytest.Must(t, err)
				_, err = p.Confirm(t.Context(), "", "a", "")
				policytest.Must(t, err)
				before := len(n.gone())
				d.Policy("a", "allow", onChangeEvicts)
				time.Sleep(time.Minute)
				if tc.restart {
					stop()
				}
				time.Sleep(tc.away)
				if tc.restart {
					p = reviewing(t, d, s, n, evictionsIn(kept))
				}
				d.Policy("a", "deny", onChangeEvicts)
				if tc.restart {
					run(t, p)
				}
				settled()
				if got := len(n.gone()); got != tc.want || before > 1 {
					t.Errorf("evicted %d, then %d, want %d", before, got-before, tc.want)
				}
			})
		})
	}
}
