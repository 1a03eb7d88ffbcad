package policy

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/replay"
	"github.com/wardlet/wardlet/core/policy/review"
)

// bad are names of pods on which a picky plugin fails.
var bad = []string{"bad-1", "bad-2", "bad-3", "bad-4", "bad-5"}

// askAll asks for verdicts without waiting for them. Read the verdicts after synctest.Wait;
// those not yet returned are zero.
func askAll(p *Engine, names ...string) map[string]*api.Verdict {
	got := map[string]*api.Verdict{}
	for _, name := range names {
		v := &api.Verdict{}
		got[name] = v
		p.Judge(policytest.Question(name), func(given api.Verdict) { *v = given })
	}
	return got
}

func TestBreaker_asksAboutPodsOnWhichThePluginHasNotFailed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script, onError string
		bad, good       api.Answer
	}{
		"hold":         {"picky allow", "hold", api.Hold, api.Allow},
		"deny":         {"picky allow", "deny", api.Deny, api.Allow},
		"allow":        {"picky deny No not this one", "allow", api.Allow, api.Deny},
		"last_verdict": {"picky allow", "last_verdict", api.Hold, api.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Policy("p", test.script, fmt.Sprintf("on_error = %q", test.onError))
				p, _ := listed(t, d, s)
				run(t, p)
				for range 3 {
					for _, name := range bad {
						if v := ask(t, p, policytest.Question(name)); v.Answer != test.bad || v.Reason != api.ReasonPolicyFailed {
							t.Errorf("%s: %+v", name, v)
						}
					}
				}
				if n := s.CallsAbout("bad"); n != eval.BreakAfter {
					t.Errorf("asked %d times about bad pods", n)
				}
				if v := ask(t, p, policytest.Question("good")); v.Answer != test.good || v.Policy != "p" || s.CallsAbout("good") != 1 {
					t.Errorf("good: %+v", v)
				}
			})
		})
	}
}

func TestBreaker_filterIsAskedAboutUpdatesOnWhichItHasNotFailed(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("f", api.HookFilter, "picky drop Window it is closed")
		p, _ := listed(t, d, s, patient)
		run(t, p)
		about := func(name string) api.FilterVerdict {
			q := policytest.Question(name, update)
			return filterBy(t, p, api.FilterQuestion{Op: q.Op, Pod: q.Pod, Old: q.Old, Origin: q.Origin})
		}
		for _, name := range slices.Concat(bad, bad) {
			if v := about(name); v.Answer != api.Pass {
				t.Errorf("%s: %+v", name, v)
			}
		}
		if v := about("good"); v.Answer != api.Drop || s.CallsAbout("bad") != eval.BreakAfter {
			t.Errorf("good: %+v", v)
		}
	})
}

func TestBreaker_mergeIsAskedAboutConflictsOnWhichItHasNotFailed(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("m", api.HookMerge, "picky winner 1")
		p, _ := listed(t, d, s, ranked)
		run(t, p)
		for _, name := range slices.Concat(bad, bad) {
			if r := resolve(t, p, contested(name)); r.Choice != api.ChooseCurrent {
				t.Errorf("%s: %+v", name, r)
			}
		}
		begun := time.Now()
		for i := range 3 { // the first is asked at once, the others at their turns
			if r := resolve(t, p, contested(fmt.Sprint("good-", i))); r.Choice != api.ChooseWinner {
				t.Errorf("good: %+v", r)
			}
		}
		if n := len(s.Calls()); n != eval.BreakAfter+3 || time.Since(begun) > 3*eval.TurnTime {
			t.Errorf("asked %d times, in %s", n, time.Since(begun))
		}
	})
}

func TestBreaker_conflictDoesNotWaitForAPolicyWithoutASay(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("a", api.HookMerge, "winner 0", "priority = 1")
		d.Hooked("b", api.HookMerge, "picky winner 1", "priority = 2")
		p, _ := listed(t, d, s, ranked)
		run(t, p)
		resolve(t, p, contested("first"))
		begun := time.Now()
		for i := range 20 {
			if r := resolve(t, p, contested(fmt.Sprint("bad-", i))); r.Choice != api.ChooseWinner || r.Policy != "a" {
				t.Errorf("%+v", r)
			}
		}
		if waited := time.Since(begun); waited > 0 {
			t.Errorf("they waited for %s", waited)
		}
	})
}

func TestBreaker_brakesAPluginThatFailsOnEveryPod(t *testing.T) {
	t.Parallel()
	for onError, test := range map[string]struct {
		answer api.Answer
		// answered is the number of pods with a verdict after half a minute.
		answered int
	}{
		"hold": {api.Hold, 1000 - int(eval.MaxTurn/eval.TurnTime) + 30},
		"deny": {api.Deny, eval.BreakAfter + 1 + 30},
		// A policy whose failures are ignored must not keep pods waiting for long.
		"allow": {api.Allow, 1000 - int(eval.MaxTurn/eval.TurnTime) + 30},
	} {
		t.Run(onError, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Policy("p", "trap no", fmt.Sprintf("on_error = %q", onError))
				p, _ := listed(t, d, s)
				run(t, p)
				ask(t, p, policytest.Question("first"))
				var names []string
				for i := range 999 {
					names = append(names, fmt.Sprint("web-", i))
				}
				got := askAll(p, names...)
				time.Sleep(30*time.Second + eval.TurnTime/2)
				synctest.Wait()
				answered := 1
				for name, v := range got {
					if v.Answer == test.answer {
						answered++
					} else if v.Answer != "" {
						t.Errorf("%s: %+v", name, v)
					}
				}
				if n := len(s.Calls()); n != eval.BreakAfter+1+30 || answered != test.answered {
					t.Errorf("asked %d times, %d answered, want %d", n, answered, test.answered)
				}
			})
		})
	}
}

func TestBreaker_goodPodAmongManyBadOnesIsAskedWithinAMinute(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("p", "picky allow", `on_error = "deny"`)
		p, _ := listed(t, d, s)
		run(t, p)
		var names []string
		for i := range 50 {
			names = append(names, fmt.Sprint("bad-", i))
		}
		got := askAll(p, append(names, "good")...)
		time.Sleep(time.Second)
		if policy, why := p.Asked(api.HookAdmit, types.NamespacedName{Namespace: "shop", Name: "good"}, "uid-good"); policy != "" || why != `policy "p" has failed on other pods, and is asked about one other each second; "wardlet policy retry" asks about all now, until five fail again` {
			t.Errorf("good waits for %q %q", policy, why)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got["good"].Answer != api.Allow {
			t.Errorf("good: %+v", got["good"])
		}
	})
}

func TestBreaker_heldPodsAreAskedAgainWhenItHalfOpens(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("p", "picky allow")
		p, _ := listed(t, d, s)
		run(t, p)
		for i, name := range bad {
			want := time.Duration(0) // the pod's own back-off
			if i == eval.BreakAfter-1 {
				want = eval.BreakDelays.Min
			}
			if v := ask(t, p, policytest.Question(name)); v.RetryAfter != want {
				t.Errorf("%s: %+v", name, v)
			}
		}
		time.Sleep(4 * time.Second)
		if v := ask(t, p, policytest.Question("bad-1")); v.RetryAfter != eval.BreakDelays.Min-4*time.Second || v.Opinions[0].Failure != "BreakerOpen" {
			t.Errorf("while it is open: %+v", v)
		}
		time.Sleep(eval.BreakDelays.Min - 4*time.Second)
		if v := ask(t, p, policytest.Question("bad-1")); v.RetryAfter != 2*eval.BreakDelays.Min || v.Opinions[0].Failure != "Trap" {
			t.Errorf("when it half-opens: %+v", v)
		}
		if v := ask(t, p, policytest.Question("bad-2")); v.RetryAfter != 2*eval.BreakDelays.Min || v.Opinions[0].Failure != "BreakerOpen" {
			t.Errorf("beside the one that was tried: %+v", v)
		}
	})
}

func TestBreaker_ordersCloseIt(t *testing.T) {
	t.Parallel()
	for name, order := range map[string]func(t *testing.T, p *Engine) error{
		"retry":  func(t *testing.T, p *Engine) error { t.Helper(); _, err := p.Retry(t.Context(), ""); return err },
		"reload": func(t *testing.T, p *Engine) error { t.Helper(); _, err := p.Reload(t.Context(), ""); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Write("p.toml", policytest.DocumentIn("p", "picky allow", anyHook))
				d.Write("p.wasm", "picky allow")
				p, _ := listed(t, d, s)
				run(t, p)
				for _, name := range bad {
					ask(t, p, policytest.Question(name))
				}
				changed := []<-chan struct{}{p.Changed(), p.FilterChanged(), p.Rules().Changed()}
				for _, c := range changed {
					select {
					case <-c:
					default:
					}
				}
				open := p.Sets()[0].Policies[0].Breakers
				want := []api.PolicyBreaker{{Failed: 5, Last: "Trap", Failing: 5, Until: time.Now().Add(eval.BreakDelays.Min)}}
				if diff := cmp.Diff(want, open); diff != "" {
					t.Errorf("shown (-want +got):\n%s", diff)
				}
				policytest.Must(t, order(t, p))
				if open := p.Sets()[0].Policies[0].Breakers; open != nil {
					t.Errorf("shown as %+v", open)
				}
				for i, c := range changed {
					select {
					case <-c:
					default:
						t.Errorf("what waits is not asked again, %d", i)
					}
				}
				if ask(t, p, policytest.Question("bad-1")); s.CallsAbout("bad-1") != 2 {
					t.Error("it is open still")
				}
			})
		})
	}
}

func TestBreaker_reloadThatChangesNothingAsksNobodyAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("p", "picky allow")
		p, _ := listed(t, d, s)
		run(t, p)
		ask(t, p, policytest.Question("good"))
		fired(p)
		_, err := p.Reload(t.Context(), "")
		policytest.Must(t, err)
		if fired(p) {
			t.Error("what waits is asked again")
		}
		_, err = p.Retry(t.Context(), "")
		policytest.Must(t, err)
		if !fired(p) {
			t.Error("what waits is not asked again")
		}
	})
}

func TestBreaker_ofOneTenantMakesNobodyElseWait(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("node", "picky allow")
		p, _ := listed(t, d, s, tenanted(d, "a", "b"), func(c *Config) { c.Tenants[0].Dir, c.Tenants[1].Dir = "", "" })
		run(t, p)
		ask(t, p, policytest.Question("first"))
		for i := range 50 {
			p.Judge(policytest.Question(fmt.Sprint("bad-", i), in("a")), func(api.Verdict) {})
		}
		synctest.Wait()
		begun := time.Now()
		for _, namespace := range []string{"b", "shop"} {
			for i := range 20 {
				if v := ask(t, p, policytest.Question(fmt.Sprint("web-", i), in(namespace))); v.Answer != api.Allow {
					t.Errorf("%s: %+v", namespace, v)
				}
			}
		}
		if waited := time.Since(begun); waited > 0 {
			t.Errorf("they waited for %s", waited)
		}
		open := p.Sets()[0].Policies[0].Breakers
		if len(open) != 1 || open[0].Tenant != "a" {
			t.Errorf("open: %+v", open)
		}
	})
}

func TestBreaker_runningPodThatWasNotAskedAboutViolatesNothing(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		var pods []review.RunningPod
		for i := range 20 {
			pods = append(pods, runs(fmt.Sprintf("bad-%02d", i)))
		}
		n := newRunning(append(pods, runs("good"))...)
		d.Policy("p", "picky allow", onChangeReports)
		p := reviewing(t, d, s, n)
		run(t, p)
		time.Sleep(5 * time.Second)
		if got := n.shows("good"); got != "" {
			t.Errorf("good is shown with %q", got)
		}
		if got := n.shows("bad-00"); !strings.Contains(got, "Trap") {
			t.Errorf("bad is shown with %q", got)
		}
		settled()
		if got := n.shows("good"); got != "" || s.CallsAbout("good") == 0 {
			t.Errorf("in the end good is shown with %q", got)
		}
	})
}

func TestBreaker_nothingWaitsForAPolicyThatDoesNotCount(t *testing.T) {
	t.Parallel()
	var exempted []string
	for i := range 20 {
		exempted = append(exempted, fmt.Sprint("shop/bad-", i))
	}
	for name, test := range map[string]struct {
		more   string
		exempt []string
	}{
		"audit":  {`mode = "audit"`, nil},
		"warn":   {`mode = "warn"`, nil},
		"exempt": {"", exempted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Policy("p", "picky allow", test.more)
				p, _ := listed(t, d, s, func(c *Config) { c.Exempt = test.exempt })
				run(t, p)
				ask(t, p, policytest.Question("first"))
				begun := time.Now()
				for i := range 20 {
					if v := ask(t, p, policytest.Question(fmt.Sprint("bad-", i))); v.Answer != api.Allow {
						t.Errorf("verdict %+v", v)
					}
				}
				if waited := time.Since(begun); waited > 0 {
					t.Errorf("they waited for %s", waited)
				}
			})
		})
	}
}

func TestBreaker_aChangedPodHasNotFailed(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("p", "trap no")
		p, _ := listed(t, d, s)
		run(t, p)
		for range 2 * eval.BreakAfter {
			ask(t, p, policytest.Question("web"))
		}
		q := policytest.Question("web", func(q *api.Question) {
			q.Pod = policytest.SomePod("web", func(p *v1.Pod) { p.Labels = map[string]string{"mended": "yes"} })
		})
		if v := ask(t, p, q); v.Opinions[0].Failure != "Trap" || len(s.Calls()) != eval.BreakAfter+1 {
			t.Errorf("verdict %+v", v)
		}
	})
}

func TestBreaker_conflictWaitsForAPluginWithoutAnInstance(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("m", api.HookMerge, "late winner 1")
		p, _ := listed(t, d, s, ranked)
		run(t, p)
		if r := resolve(t, p, contested("web")); r.Choice != api.ChooseWinner || len(s.Calls()) != 3 {
			t.Errorf("%+v after %d calls", r, len(s.Calls()))
		}
	})
}

func TestBreaker_decisionsAreRepeatedAsTheyWere(t *testing.T) {
	t.Parallel()
	at, d, s := filepath.Join(t.TempDir(), "state"), policytest.NewTree(t), policytest.NewScripts()
	d.Write("p.toml", policytest.DocumentIn("p", "picky allow", anyHook))
	d.Write("p.wasm", "picky allow")
	log, closeAll := policytest.RecordsIn(t, at)
	c := testConfig(d, s)
	c.Records = log
	p := New(c)
	stop := run(t, p)
	for _, name := range slices.Concat(bad, bad, []string{"good", "bad-1"}) {
		ask(t, p, policytest.Question(name))
	}
	stop()
	closeAll()
	records, exhibits := evidenceIn(t, at)
	again := replay.NewReplayer(scripted{policytest.NewScripts()}, slog.New(slog.DiscardHandler))
	defer again.Close()
	var retries []time.Duration
	for i, r := range records {
		if diff := repeated(t, again, r, exhibits[i]); diff != nil {
			t.Errorf("%s of %s: %v", r.Hook, r.Name, diff)
		}
		if r.Verdict.RetryAfter > 0 {
			retries = append(retries, r.Verdict.RetryAfter)
		}
	}
	// The fifth pod has two records, each other pod one.
	if len(retries) != eval.BreakAfter+1 {
		t.Errorf("on record are %v", retries)
	}
}

// TestBreaker_goodPodHasItsTurnHoweverOftenSomebodyRetries checks that a retry ordered by the
// operator does not use up the turn of a good pod.
func TestBreaker_goodPodHasItsTurnHoweverOftenSomebodyRetries(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("p", "picky allow")
		p, _ := listed(t, d, s)
		run(t, p)
		var names []string
		for i := range 50 {
			names = append(names, fmt.Sprint("bad-", i))
		}
		names = append(names, "good")
		got := askAll(p, names...)
		for range 20 {
			time.Sleep(3 * time.Second)
			_, err := p.Retry(t.Context(), "")
			policytest.Must(t, err)
			var waiting []string
			for _, name := range names {
				if got[name].Answer != api.Allow {
					waiting = append(waiting, name)
				}
			}
			maps.Copy(got, askAll(p, waiting...)) // as the mux does when policies have changed
		}
		synctest.Wait()
		if got["good"].Answer != api.Allow {
			t.Errorf("good: %+v", got["good"])
		}
	})
}
