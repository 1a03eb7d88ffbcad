package policy

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

// contestOf returns a contest between the sources cluster, fleet and static, in this order;
// the pod of the source running runs.
func contestOf(namespace, running string) api.Contest {
	c := api.Contest{Identity: types.NamespacedName{Namespace: namespace, Name: "web"}}
	for _, source := range []string{"cluster", "fleet", "static"} {
		x := api.Candidate{
			Pod: policytest.SomePod(source, func(p *v1.Pod) { p.Namespace = namespace }), Origin: api.Origin{Source: source, Document: source + "#0"},
		}
		if source == running {
			x.Running = policytest.SomePod("runs")
		}
		c.Candidates = append(c.Candidates, x)
	}
	return c
}

func resolve(t *testing.T, p *Engine, c api.Contest) api.Resolution {
	t.Helper()
	answer := make(chan api.Resolution, 1)
	p.Rules().Resolve(c, func(r api.Resolution) { answer <- r })
	return <-answer
}

// ranked ranks the sources: static, cluster, fleet.
func ranked(c *Config) {
	c.Sources = []string{"static", "cluster", "fleet"}
	c.Kinds = map[string]string{"static": "file", "cluster": "api", "fleet": "http"}
}

func TestAPolicyChoosesWhoWins(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]api.Resolution{
		// The policy's candidate 1 is the contest's candidate 0.
		"winner 1 Ranked it comes first": {Choice: api.ChooseWinner, Winner: 0, Policy: "m", Message: "it comes first"},
		"winner 0":                       {Choice: api.ChooseWinner, Winner: 2, Policy: "m"},
		"keep":                           {Choice: api.ChooseCurrent, Policy: "m"},
		"reject Twice by two":            {Choice: api.ChooseNone, Policy: "m", Message: "by two"},
		"abstain":                        {Choice: api.NoChoice, Policy: "m"},
		"trap x":                         {Choice: api.ChooseCurrent, Policy: "m", Message: "the plugin failed with Trap: x"},
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Hooked("m", api.HookMerge, script)
				p, _ := listed(t, d, s, ranked)
				run(t, p)
				got := resolve(t, p, contestOf("shop", "fleet"))
				want.At, want.Sets = got.At, []string{p.Sets()[0].Digest}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("resolution (-want +got):\n%s", diff)
				}
				if calls := s.Calls(); len(calls) != 1 || calls[0] != "m merges static cluster fleet" {
					t.Errorf("asked %q", calls)
				}
				if m := s.Merges["m"]; script != "trap x" && (m.Current == nil || m.Current.Name != "runs" || !m.Candidates[2].Running || m.Candidates[0].Kind != "file") {
					t.Errorf("asked %+v", m)
				}
				if on := p.Decisions(); len(on) != 1 || on[0].Hook != api.HookMerge || on[0].Name != "web" {
					t.Errorf("on record: %+v", on)
				}
			})
		})
	}
}

func TestTheFirstMergePolicyThatCountsDecides(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("a", api.HookMerge, "abstain")
		d.Hooked("b", api.HookMerge, "reject", "mode = \"audit\"")
		d.Hooked("c", api.HookMerge, "keep", "[match]\nnamespaces = [\"other\"]")
		d.Policy("d", "deny")
		d.Of("shop").Hooked("mine", api.HookMerge, "reject")
		d.Hooked("e", api.HookMerge, "winner 2")
		p, _ := listed(t, d, s, ranked, tenanted(d, "shop"))
		run(t, p)
		got := resolve(t, p, contestOf("shop", ""))
		if got.Choice != api.ChooseWinner || got.Winner != 1 || got.Policy != "e" || len(got.Sets) != 2 {
			t.Errorf("resolution %+v, want that of the operator's policy that has an opinion", got)
		}
		want := []string{"a merges static cluster fleet", "b merges static cluster fleet", "e merges static cluster fleet", "mine merges static cluster fleet"}
		if diff := cmp.Diff(want, s.Calls()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if got := resolve(t, p, contestOf("b", "")); got.Policy != "e" {
			t.Errorf("outside of the tenant: %+v", got)
		}
	})
}

func TestWhatMergePoliciesSayAndTakeIsToldBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Hooked("a", api.HookMerge, "abstain")
		d.Hooked("b", api.HookMerge, "trap x")
		d.Of("shop").Hooked("mine", api.HookMerge, "reject")
		p, _ := listed(t, d, s, ranked, tenanted(d, "shop"))
		run(t, p)
		var told []string
		rules := p.Rules().Telling(func(opinions []api.Opinion) {
			for i := range opinions {
				o := &opinions[i]
				told = append(told, fmt.Sprintf("%s of %q took %d", o.Policy, o.Tenant, o.Fuel))
			}
		})
		for namespace, want := range map[string][]string{
			"shop":  {`a of "" took 3`, `b of "" took 7`, `mine of "shop" took 3`},
			"other": {`a of "" took 3`, `b of "" took 7`},
		} {
			told = nil
			var before []string
			answer := make(chan api.Resolution, 1)
			rules.Resolve(contestOf(namespace, ""), func(r api.Resolution) { before = told; answer <- r })
			if r := <-answer; r.Policy != "b" || r.Choice != api.ChooseCurrent {
				t.Errorf("resolution %+v", r)
			}
			if diff := cmp.Diff(want, before); diff != "" {
				t.Errorf("in %s (-want +got):\n%s", namespace, diff)
			}
		}
	})
}

func TestATenantsMergePolicyDecidesForItsOwnPods(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("d", "deny")
		d.Of("shop").Hooked("mine", api.HookMerge, "reject")
		p, _ := listed(t, d, s, ranked, tenanted(d, "shop"))
		run(t, p)
		if got := resolve(t, p, contestOf("shop", "")); got.Choice != api.ChooseNone || got.Policy != "mine" {
			t.Errorf("resolution %+v", got)
		}
		if got := resolve(t, p, contestOf("other", "")); got.Choice != api.NoChoice || len(p.Decisions()) != 1 {
			t.Errorf("resolution %+v of another tenant's pods", got)
		}
	})
}

func TestWithoutASetWhatRunsGoesOn(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Write("broken.toml", "api = 1")
		p, _ := listed(t, d, s, ranked)
		run(t, p)
		if got := resolve(t, p, contestOf("shop", "")); got.Choice != api.ChooseCurrent {
			t.Errorf("resolution %+v", got)
		}
	})
}

func TestOnlyAChangeOfTheirPoliciesIsToldToAHook(t *testing.T) {
	t.Parallel()
	told := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("a", "allow")
		p, _ := listed(t, d, s)
		run(t, p)
		change := func(step string, merge, filter bool) {
			t.Helper()
			<-p.Changed()
			synctest.Wait() // the other channels are signalled after it
			if got := told(p.Rules().Changed()); got != merge {
				t.Errorf("%s: merge policies changed: %t", step, got)
			}
			if got := told(p.FilterChanged()); got != filter {
				t.Errorf("%s: filters changed: %t", step, got)
			}
		}
		ask(t, p, policytest.Question("web"))
		d.Policy("a", "deny")
		change("an admission policy", false, false)
		d.Hooked("m", api.HookMerge, "keep")
		change("a new merge policy", true, false)
		d.Hooked("f", api.HookFilter, "pass")
		change("a filter beside a merge policy", true, true)
		d.Remove("m.toml")
		change("no merge policy any more", true, true)
		d.Hooked("f", api.HookFilter, "pass", "mode = \"off\"")
		change("a filter that is switched off", false, true)
		d.Policy("a", "allow")
		change("an admission policy beside one that is off", false, false)
	})
}
