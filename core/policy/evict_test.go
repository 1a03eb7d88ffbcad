package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/review"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// settled waits for 10 minutes without events.
func settled() {
	time.Sleep(20 * time.Minute)
	synctest.Wait()
}

// expectPace checks that pods were evicted one at a time.
func expectPace(t *testing.T, n *running) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := 1; i < len(n.evicted); i++ {
		if gap := n.evicted[i].at.Sub(n.evicted[i-1].at); gap < review.EvictPeriod {
			t.Errorf("%s went %s after %s", n.evicted[i].name, gap, n.evicted[i-1].name)
		}
	}
}

func TestAPolicyThatDeniesEverythingEvictsATenthUntilItIsConfirmed(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n, kept := newRunning(somePods(50)...), newCounts()
		d.Policy("deny-all", "allow", onChangeEvicts)
		p := reviewing(t, d, s, n, evictionsIn(kept), exempting("shop/p00", "shop/p01"))
		run(t, p)
		time.Sleep(time.Minute)
		d.Policy("deny-all", "deny No nobody", onChangeEvicts)
		settled()
		if diff := cmp.Diff([]string{"p02", "p03", "p04", "p05", "p06"}, n.gone()); diff != "" {
			t.Errorf("evicted (-want +got):\n%s", diff)
		}
		expectPace(t, n)
		const waits = `policy "deny-all": No: nobody; 5 of 50 pods were evicted, this one waits for "wardlet policy confirm deny-all"`
		if got := n.shows("p07"); got != waits {
			t.Errorf("shown %q, want %q", got, waits)
		}
		if got := n.shows("p00"); !strings.HasSuffix(got, "the pod is exempt and runs on") {
			t.Errorf("shown %q", got)
		}
		r := p.Sets()[0].Policies[0].Review
		want := &api.PolicyReview{Judged: 45, Violating: 45, Of: 50, Evicted: 5, Allowed: 5, Waiting: 43, Waits: `for "wardlet policy confirm deny-all"`}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("review (-want +got):\n%s", diff)
		}
		if !slices.Contains(n.told, `p07 PolicyViolation the pod runs on and would not be admitted now: policy "deny-all": No: nobody; 5 of 50 pods were evicted, this one waits for "wardlet policy confirm deny-all"`) {
			t.Errorf("no event says what is waited for: %q", n.told[len(n.told)-1])
		}
		v := n.evicted[0].by
		if v.Answer != api.Deny || v.Reason != "PolicyEvicted" || v.Message != `policy "deny-all": No: nobody` || v.Policy != "deny-all" || len(v.Sets) != 1 {
			t.Errorf("evicted by %+v", v)
		}

		for name, of := range map[string][2]string{"another policy": {"", "other"}, "another owner": {"a", "deny-all"}} {
			if _, err := p.Confirm(t.Context(), of[0], of[1], ""); err == nil {
				t.Errorf("%s is confirmed", name)
			}
		}
		set, err := p.Confirm(t.Context(), "", "deny-all", "")
		if err != nil || !set.Policies[0].Review.Confirmed {
			t.Errorf("confirmed: %+v, %v", set.Policies[0].Review, err)
		}
		settled()
		if got := len(n.gone()); got != 48 {
			t.Errorf("%d pods evicted, want all but the exempt ones", got)
		}
		expectPace(t, n)
		if left := n.Pods(); len(left) != 2 {
			t.Errorf("left %d", len(left))
		}
	})
}

func TestWhatWasEvictedCountsAfterARestart(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n, kept := newRunning(somePods(30)...), newCounts()
		d.Policy("a", "deny", onChangeEvicts)
		for life := range 6 {
			p := reviewing(t, d, s, n, evictionsIn(kept))
			stop := run(t, p)
			if life == 0 {
				time.Sleep(5 * time.Second) // the first pod is evicted
			} else {
				settled()
			}
			stop()
		}
		if got := len(n.gone()); got != 3 {
			t.Errorf("%d of 30 evicted, want 3", got)
		}
		expectPace(t, n)
		if c := kept.kept[""].Policies; len(c) != 1 || c[0].Of != 30 || c[0].Evicted != 3 {
			t.Errorf("kept %+v", c)
		}
		// A confirmation is valid for one content only.
		p := reviewing(t, d, s, n, evictionsIn(kept))
		run(t, p)
		time.Sleep(time.Minute)
		if _, err := p.Confirm(t.Context(), "", "a", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(25 * time.Second)
		d.Policy("a", "deny # another", onChangeEvicts)
		settled()
		if got := len(n.gone()); got < 4 || got > 9 {
			t.Errorf("%d evicted", got)
		}
		if !strings.Contains(n.shows("p29"), "policy confirm a") {
			t.Errorf("shown %q", n.shows("p29"))
		}
		expectPace(t, n)
	})
}

func TestOnlyWhatThePluginDeniesIsEvicted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		keys   []string
		want   int
	}{
		"a denial is":                            {"deny", []string{onChangeEvicts}, 2},
		"a hold is not":                          {"hold", []string{onChangeEvicts}, 0},
		"nor is a failure that counts as denial": {"trap x", []string{onChangeEvicts, `on_error = "deny"`}, 0},
		"nor one that holds":                     {"trap x", []string{onChangeEvicts}, 0},
		"nor a denial that is only reported":     {"deny", []string{onChangeReports}, 0},
		"nor one of mode warn":                   {"deny", []string{onChangeEvicts, `mode = "warn"`}, 0},
		"nor what an exception names":            {"deny", []string{onChangeEvicts, "[[exception]]\npods = [\"shop/*\"]\nowner = \"me\"\nexpires = \"2999-01-01\""}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				n := newRunning(somePods(25)...)
				d.Policy("a", tc.script, tc.keys[1:]...)
				run(t, reviewing(t, d, s, n))
				time.Sleep(time.Minute)
				d.Policy("a", tc.script, tc.keys...) // this change starts no probation
				settled()
				if got := len(n.gone()); got != tc.want {
					t.Errorf("evicted %d, want %d", got, tc.want)
				}
			})
		})
	}
}

func TestNobodyIsEvictedBeforeAllAreJudged(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning(somePods(50)...)
		d.Policy("a", "deny", onChangeEvicts)
		calls := 0
		s.Edit = func(string, *wasm.Result) {
			if calls++; len(n.gone()) > 0 && calls < 50 {
				t.Errorf("evicted %v after %d calls", n.gone(), calls)
			}
			time.Sleep(time.Second)
		}
		run(t, reviewing(t, d, s, n))
		settled()
		if got := len(n.gone()); got != 5 {
			t.Errorf("%d evicted", got)
		}
	})
}

func TestTheDefaultVerdictEvictsNobody(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning(somePods(25)...)
		d.Policy("a", "abstain", onChangeEvicts)
		run(t, reviewing(t, d, s, n, func(c *Config) { c.DefaultVerdict = api.Deny }))
		settled()
		if len(n.gone()) > 0 || n.shows("p01") != "" {
			t.Errorf("evicted %v, shown %q", n.gone(), n.shows("p01"))
		}
	})
}

func TestASetThatIsTakenBackEvictsNoMore(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(d policytest.Tree, p *Engine){
		"rolled back": func(d policytest.Tree, p *Engine) {
			_, err := p.Rollback(d.T.Context(), "")
			policytest.Must(d.T, err)
		},
		"replaced": func(d policytest.Tree, _ *Engine) { d.Policy("a", "allow # again", onChangeEvicts) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				n := newRunning(somePods(50)...)
				d.Policy("a", "allow", onChangeEvicts)
				keep, _ := keeping(t)
				p := reviewing(t, d, s, n, keep)
				run(t, p)
				time.Sleep(time.Minute)
				d.Policy("a", "deny", onChangeEvicts)
				for len(n.gone()) < 2 {
					time.Sleep(time.Second)
				}
				end(d, p)
				time.Sleep(15 * time.Second)
				gone := len(n.gone())
				settled()
				if got := len(n.gone()); got != gone || got > 3 {
					t.Errorf("%d evicted, then %d", gone, got)
				}
				if got := n.shows("p49"); got != "" {
					t.Errorf("shown %q", got)
				}
			})
		})
	}
}

func TestAPodIsJudgedOnceMoreBeforeItIsEvicted(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning(somePods(25)...)
		d.Policy("a", "deny", onChangeEvicts)
		calls := 0
		s.Edit = func(_ string, r *wasm.Result) {
			if calls++; calls > 25 {
				r.Answer = api.Allow
			}
		}
		run(t, reviewing(t, d, s, n))
		settled()
		if got := n.gone(); len(got) != 1 { // it was evicted right after its verdict
			t.Errorf("evicted %v, which it does not deny any more", got)
		}
		if calls != 25+24 {
			t.Errorf("asked %d times", calls)
		}
	})
}

func TestNobodyIsEvictedWhoCannotBeCounted(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n, kept := newRunning(somePods(25)...), newCounts()
		kept.unread = errors.New("bad sector")
		d.Policy("a", "deny", onChangeEvicts)
		p := reviewing(t, d, s, n, evictionsIn(kept))
		run(t, p)
		settled()
		if r := p.Sets()[0].Policies[0].Review; len(n.gone()) > 0 || !strings.Contains(r.Waits, "bad sector") {
			t.Errorf("what was evicted is not known: evicted %v, %+v", n.gone(), r)
		}
		kept.mu.Lock()
		kept.unread, kept.fails = nil, errors.New("disk full")
		kept.mu.Unlock()
		settled()
		if r := p.Sets()[0].Policies[0].Review; len(n.gone()) > 0 || !strings.Contains(r.Waits, "disk full") {
			t.Errorf("the disk takes nothing: evicted %v, %+v", n.gone(), r)
		}
		kept.mu.Lock()
		kept.fails = nil
		kept.mu.Unlock()
		settled()
		if got := len(n.gone()); got != 2 {
			t.Errorf("%d evicted", got)
		}
	})
}

func TestAPodThatCannotBeEvictedDoesNotCount(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n, kept := newRunning(somePods(25)...), newCounts()
		n.refuses = errors.New("it has gone")
		d.Policy("a", "deny", onChangeEvicts)
		p := reviewing(t, d, s, n, evictionsIn(kept))
		run(t, p)
		settled()
		if r := p.Sets()[0].Policies[0].Review; r.Evicted != 0 {
			t.Errorf("review %+v", r)
		}
		n.mu.Lock()
		n.refuses = nil
		n.mu.Unlock()
		settled()
		if got := len(n.gone()); got != 2 {
			t.Errorf("%d evicted", got)
		}
	})
}

func TestASetEvictsOnProbationOnlyWhereItHasProvedItself(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning(somePods(5)...)
		d.Policy("a", "deny", onChangeEvicts)
		p := reviewing(t, d, s, n)
		run(t, p)
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if r := p.Sets()[0].Policies[0].Review; len(n.gone()) > 0 || !strings.Contains(r.Waits, "probation") {
			t.Errorf("after 9 minutes: evicted %v, %+v", n.gone(), r)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if len(n.gone()) != 1 {
			t.Errorf("after 11 minutes: evicted %v", n.gone())
		}
	})
}

func TestATenantsPolicyEvictsItsOwnPods(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		own := policytest.NewTree(t)
		n := newRunning(somePods(25)...)
		for i := range 30 {
			p := runs(fmt.Sprintf("a%02d", i), func(p *v1.Pod) { p.Namespace = "a" })
			n.pods[p.Pod.UID] = p
		}
		d.Policy("operator", "allow", onChangeReports)
		own.Policy("mine", "deny", onChangeEvicts)
		p := reviewing(t, d, s, n, func(c *Config) {
			c.Tenants = []Tenant{{Name: "a", Dir: own.Dir, Owns: func(namespace string) bool { return namespace == "a" }}}
		})
		run(t, p)
		settled()
		if diff := cmp.Diff([]string{"a00", "a01", "a02"}, n.gone()); diff != "" {
			t.Errorf("evicted (-want +got):\n%s", diff)
		}
		if got := n.shows("a10"); !strings.Contains(got, `"wardlet policy confirm mine --tenant a"`) {
			t.Errorf("shown %q", got)
		}
		if got := n.shows("p10"); got != "" {
			t.Errorf("shown %q with a pod of nobody's", got)
		}
	})
}

func TestTwoPoliciesHaveAPaceOfTheirOwn(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning(somePods(45)...)
		d.Policy("a", "deny", onChangeEvicts)
		d.Policy("b", "deny", onChangeEvicts)
		run(t, reviewing(t, d, s, n))
		settled()
		by := map[string]int{}
		for _, e := range n.evicted {
			by[e.by.Policy]++
		}
		if diff := cmp.Diff(map[string]int{"a": 4, "b": 4}, by); diff != "" {
			t.Errorf("evicted (-want +got):\n%s", diff)
		}
	})
}
