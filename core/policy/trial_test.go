package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/state"
)

// takenIn waits until the engine has found a change.
func takenIn() {
	time.Sleep(2 * rollout.ListPeriod)
	synctest.Wait()
}

// askAbout asks about n pods of a namespace and returns the last verdict.
func askAbout(t *testing.T, p *Engine, namespace string, n int) (v api.Verdict) {
	t.Helper()
	for i := range n {
		v = ask(t, p, policytest.Question(fmt.Sprintf("web-%d", i), in(namespace)))
	}
	synctest.Wait()
	return v
}

func drain(p *Engine) {
	for fired(p) {
		synctest.Wait()
	}
}

func TestASetWhosePluginsFailGivesWayToTheOneBefore(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), kept state.PolicySets) {
		t := d.T
		d.Policy("a", "allow")
		var good, bad string
		life(t, d, s, func(p *Engine, l *policytest.Logs) {
			askAbout(t, p, "shop", 1)
			good = p.Sets()[0].Digest
			d.Policy("a", "trap unreachable")
			takenIn()
			drain(p)
			bad = p.Sets()[0].Digest
			if got := askAbout(t, p, "shop", rollout.LeastDecisions-1); got.Answer != api.Hold || bad == good {
				t.Errorf("verdict %+v of set %s", got, bad)
			}
			if set := p.Sets()[0]; set.Digest != bad || set.Probation == nil || set.Probation.Decisions != 19 || set.Probation.Failed != 19 || fired(p) {
				t.Errorf("set %+v with probation %+v", set, set.Probation)
			}
			askAbout(t, p, "shop", 1)
			if !fired(p) {
				t.Error("what is held is not asked again")
			}
			if got := ask(t, p, policytest.Question("web")); got.Answer != api.Allow || got.Sets[0] != good {
				t.Errorf("verdict %+v, want that of the set before", got)
			}
			takenIn()
			set := p.Sets()[0]
			if set.Generation != 3 || set.Probation != nil || !strings.HasPrefix(set.Refused, "rolled back at 2000-") ||
				!strings.Contains(set.Refused, `plugins failed in 20 of 20 decisions, last policy "a": the plugin failed with Trap: unreachable; mend the policies`) {
				t.Errorf("set %+v", set)
			}
			if l.Count("policies are rolled back: their plugins fail") != 1 {
				t.Errorf("logged %q", l.Lines())
			}
			if in := s.InUse(); len(in) != 1 {
				t.Errorf("still loaded: %q", in)
			}
		}, keep)
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			if got := ask(t, p, policytest.Question("web")); got.Answer != api.Allow || got.Sets[0] != good {
				t.Errorf("after a restart: verdict %+v", got)
			}
			if set := p.Sets()[0]; !strings.HasPrefix(set.Refused, "rolled back at") || set.Probation != nil {
				t.Errorf("after a restart: set %+v", set)
			}
			// If the operator orders a retry, the set is on probation again.
			if set, err := p.Retry(t.Context(), ""); err != nil || set.Digest != bad || set.Probation == nil {
				t.Errorf("set %+v, %v of a retry", set, err)
			}
			askAbout(t, p, "shop", rollout.LeastDecisions)
			if set := p.Sets()[0]; set.Digest != good {
				t.Errorf("set %+v, want a roll-back again", set)
			}
			d.Policy("a", "deny")
			takenIn()
			if set := p.Sets()[0]; set.Refused != "" || ask(t, p, policytest.Question("web")).Answer != api.Deny {
				t.Errorf("set %+v after it was mended", set)
			}
		}, keep)
		if record, err := kept.Load(""); err != nil || len(record.Good) != 2 || record.Good[1] != good || len(record.Trial.Policies) != 1 {
			t.Errorf("kept %+v, %v", record, err)
		}
	})
}

func TestDenialsAreNoReasonToRollBack(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), kept state.PolicySets) {
		t := d.T
		d.Policy("a", "allow")
		life(t, d, s, func(p *Engine, l *policytest.Logs) {
			askAbout(t, p, "shop", 1)
			d.Policy("a", "deny")
			takenIn()
			if got := askAbout(t, p, "shop", rollout.TrialDecisions); got.Answer != api.Deny {
				t.Errorf("verdict %+v", got)
			}
			if set := p.Sets()[0]; set.Generation != 2 || set.Probation != nil || l.Count("the policies have passed their probation") != 1 {
				t.Errorf("set %+v; logged %q", set, l.Lines())
			}
			// After the probation, failures are handled by the breakers and on_error.
			s.Edit = func(_ string, r *wasm.Result) { r.Answer = "perhaps" }
			askAbout(t, p, "shop", rollout.TrialDecisions)
			takenIn()
			if set := p.Sets()[0]; set.Generation != 2 {
				t.Errorf("set %+v", set)
			}
		}, keep)
		if record, err := kept.Load(""); err != nil || record.Trial.Set != "" {
			t.Errorf("kept %+v, %v", record, err)
		}
	})
}

func TestAProbationEndsWithTime(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		d.Policy("a", "allow")
		life(t, d, s, func(p *Engine, l *policytest.Logs) {
			askAbout(t, p, "shop", rollout.LeastDecisions)
			time.Sleep(rollout.TrialTime - time.Minute)
			if p.Sets()[0].Probation == nil {
				t.Error("it is over too early")
			}
			time.Sleep(2 * time.Minute)
			if p.Sets()[0].Probation != nil || l.Count("have passed their probation") != 1 {
				t.Errorf("logged %q", l.Lines())
			}
		}, keep)
	})
}

func TestATenantsPodsDoNotBringTheOperatorsSetDown(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		d.Policy("node", "allow")
		// The plugin fails only on pods of namespaces that begin with "bad".
		s.Edit = func(_ string, r *wasm.Result) {
			if strings.HasPrefix(s.Requests["node"].Question.Pod.Namespace, "bad") {
				r.Answer = "perhaps"
			}
		}
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			askAbout(t, p, "shop", 1)
			d.Policy("node", "allow # newer")
			takenIn()
			askAbout(t, p, "bad", 3*rollout.LeastDecisions)
			askAbout(t, p, "shop", rollout.LeastDecisions)
			askAbout(t, p, "bad", 5*rollout.TrialDecisions)
			set := p.Sets()[0]
			if set.Generation != 2 || set.Refused != "" {
				t.Errorf("set %+v", set)
			}
			if got := askAbout(t, p, "shop", 1); got.Answer != api.Allow {
				t.Errorf("verdict %+v", got)
			}
		}, keep, tenanted(d, "bad"), func(c *Config) { c.Tenants[0].Dir = "" })
	})
}

func TestATenantsSetFallsBackAlone(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		d.Policy("node", "allow")
		d.Of("a").Policy("mine", "deny Mine")
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			askAbout(t, p, "a", 1)
			d.Of("a").Policy("mine", "trap here")
			takenIn()
			askAbout(t, p, "a", rollout.LeastDecisions)
			if got := ask(t, p, policytest.Question("web", in("a"))); got.Reason != "Mine" {
				t.Errorf("verdict %+v", got)
			}
			if node, mine := p.Sets()[0], p.Sets()[1]; node.Generation != 1 || mine.Generation != 3 || node.Refused != "" || mine.Refused == "" {
				t.Errorf("sets %+v, %+v", node, mine)
			}
		}, keep, tenanted(d, "a"))
	})
}

func TestTheFirstSetStaysThoughItFailsAndSaysSo(t *testing.T) {
	t.Parallel()
	for name, ready := range map[string]bool{"it is the first": true, "the one before cannot be read": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), kept state.PolicySets) {
				t := d.T
				want := "there is no earlier set to go back to"
				d.Policy("a", "trap here")
				life(t, d, s, func(p *Engine, l *policytest.Logs) {
					askAbout(t, p, "shop", 1)
					if !ready {
						content, err := kept.Content("")
						policytest.Must(t, err)
						want = "the set before cannot be brought back: " + filepath.Join(content, p.Sets()[0].Digest) + " does not hold what its name says"
						policytest.Must(t, os.WriteFile(filepath.Join(content, p.Sets()[0].Digest, "a.wasm"), nil, 0o600))
						d.Policy("a", "trap there")
						takenIn()
					}
					digest := p.Sets()[0].Digest
					askAbout(t, p, "shop", rollout.LeastDecisions)
					takenIn()
					askAbout(t, p, "shop", rollout.TrialDecisions)
					takenIn()
					set := p.Sets()[0]
					if set.Digest != digest || set.Refused != "" || set.Probation == nil || set.Probation.Failing != want {
						t.Errorf("set %+v with probation %+v, want %q", set, set.Probation, want)
					}
					if l.Count("the policies fail and stay in force") != 1 {
						t.Errorf("logged %q", l.Lines())
					}
				}, keep)
			})
		})
	}
}

func TestARolledBackSetIsNotOnProbation(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		d.Policy("a", "trap one")
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			askAbout(t, p, "shop", 1)
			d.Policy("a", "trap two")
			takenIn()
			askAbout(t, p, "shop", 20*rollout.LeastDecisions)
			takenIn()
			set := p.Sets()[0]
			if set.Generation != 3 || set.Probation != nil || set.Refused == "" {
				t.Errorf("set %+v with probation %+v", set, set.Probation)
			}
		}, keep)
	})
}

func TestAProbationGoesOnAfterARestartAndAPassedOneDoesNotBeginAnew(t *testing.T) {
	t.Parallel()
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), _ state.PolicySets) {
		t := d.T
		d.Policy("a", "allow")
		d.Policy("b", "allow")
		life(t, d, s, func(p *Engine, _ *policytest.Logs) { askAbout(t, p, "shop", rollout.TrialDecisions) }, keep)
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			askAbout(t, p, "shop", 1)
			if on := p.Sets()[0].Probation; on != nil {
				t.Errorf("on probation again: %+v", on)
			}
			d.Policy("b", "trap here")
			takenIn()
			askAbout(t, p, "shop", rollout.LeastDecisions-1)
		}, keep)
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			askAbout(t, p, "shop", 1)
			if on := p.Sets()[0].Probation; on == nil || len(on.Policies) != 1 || on.Policies[0] != "b" || on.Decisions != 1 {
				t.Errorf("probation %+v", on)
			}
			askAbout(t, p, "shop", rollout.LeastDecisions)
			if got := ask(t, p, policytest.Question("web")); got.Answer != api.Allow {
				t.Errorf("verdict %+v", got)
			}
		}, keep)
	})
}

func TestARollBackOfASignedSetDoesNotGoBackInRevisions(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	keptBubble(t, func(d policytest.Tree, s *policytest.Scripts, keep func(*Config), kept state.PolicySets) {
		t := d.T
		trust := func(c *Config) { c.Trust = trusting(true, key) }
		d.Policy("a", "allow")
		signIn(d, 4, key)
		life(t, d, s, func(p *Engine, _ *policytest.Logs) {
			askAbout(t, p, "shop", 1)
			d.Policy("a", "trap here")
			signIn(d, 5, key)
			takenIn()
			askAbout(t, p, "shop", rollout.LeastDecisions)
			if set := p.Sets()[0]; set.Revision != 4 || set.Key == "" || set.Refused == "" {
				t.Errorf("set %+v", set)
			}
			d.Policy("a", "hold")
			signIn(d, 4, key)
			takenIn()
			if set := p.Sets()[0]; !strings.Contains(set.Refused, "revision 4 is lower than 5") {
				t.Errorf("set %+v", set)
			}
		}, keep, trust)
		if record, err := kept.Load(""); err != nil || record.Revision != 5 {
			t.Errorf("kept %+v, %v", record, err)
		}
	})
}
