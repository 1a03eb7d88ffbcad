package policy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

// hooked writes NAME.toml and NAME.wasm for a policy of one hook.
func (d tree) hooked(name, hook, script string, more ...string) {
	d.t.Helper()
	d.write(name+".wasm", script)
	d.write(name+".toml", fmt.Sprintf("api = \"wardlet.dev/v1\"\nname = %q\nmodule = %q\nsha256 = %q\nhooks = [%q]\n%s\n",
		name, name+".wasm", sumOf(script), hook, strings.Join(more, "\n")))
}

// contestOf is a contest in the namespace shop of the sources cluster, fleet and
// static, in this order, of which one runs.
func contestOf(namespace, running string) api.Contest {
	c := api.Contest{Identity: types.NamespacedName{Namespace: namespace, Name: "web"}}
	for _, source := range []string{"cluster", "fleet", "static"} {
		x := api.Candidate{
			Pod: somePod(source, func(p *v1.Pod) { p.Namespace = namespace }), Origin: api.Origin{Source: source, Document: source + "#0"},
		}
		if source == running {
			x.Running = somePod("runs")
		}
		c.Candidates = append(c.Candidates, x)
	}
	return c
}

func resolve(t *testing.T, p *Plane, c api.Contest) api.Resolution {
	t.Helper()
	answer := make(chan api.Resolution, 1)
	p.Rules().Resolve(c, func(r api.Resolution) { answer <- r })
	return <-answer
}

// ranked is a configuration whose sources are ranked static, cluster, fleet.
func ranked(c *Config) {
	c.Sources = []string{"static", "cluster", "fleet"}
	c.Kinds = map[string]string{"static": "file", "cluster": "api", "fleet": "http"}
}

func TestAPolicyChoosesWhoWins(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]api.Resolution{
		// Candidate 1 of the policy's is the first of the contest's.
		"winner 1 Ranked it comes first": {Choice: api.ChooseWinner, Winner: 0, Policy: "m", Message: "it comes first"},
		"winner 0":                       {Choice: api.ChooseWinner, Winner: 2, Policy: "m"},
		"keep":                           {Choice: api.ChooseCurrent, Policy: "m"},
		"reject Twice by two":            {Choice: api.ChooseNone, Policy: "m", Message: "by two"},
		"abstain":                        {Choice: api.NoChoice, Policy: "m"},
		"trap x":                         {Choice: api.ChooseCurrent, Policy: "m", Message: "the plugin failed with Trap: x"},
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d tree, s *scripts) {
				t := d.t
				d.hooked("m", hookMerge, script)
				p, _ := listed(t, d, s, ranked)
				run(t, p)
				got := resolve(t, p, contestOf("shop", "fleet"))
				want.At, want.Sets = got.At, []string{p.Sets()[0].Digest}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("resolution (-want +got):\n%s", diff)
				}
				if calls := s.called(); len(calls) != 1 || calls[0] != "m merges static cluster fleet" {
					t.Errorf("asked %q", calls)
				}
				if m := s.merges["m"]; script != "trap x" && (m.Current == nil || m.Current.Name != "runs" || !m.Candidates[2].Running || m.Candidates[0].Kind != "file") {
					t.Errorf("asked %+v", m)
				}
				if on := p.Decisions(); len(on) != 1 || on[0].Hook != hookMerge || on[0].Name != "web" {
					t.Errorf("on record: %+v", on)
				}
			})
		})
	}
}

func TestTheFirstMergePolicyThatCountsDecides(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.hooked("a", hookMerge, "abstain")
		d.hooked("b", hookMerge, "reject", "mode = \"audit\"")
		d.hooked("c", hookMerge, "keep", "[match]\nnamespaces = [\"other\"]")
		d.policy("d", "deny")
		d.of("shop").hooked("mine", hookMerge, "reject")
		d.hooked("e", hookMerge, "winner 2")
		p, _ := listed(t, d, s, ranked, tenanted(d, "shop"))
		run(t, p)
		got := resolve(t, p, contestOf("shop", ""))
		if got.Choice != api.ChooseWinner || got.Winner != 1 || got.Policy != "e" || len(got.Sets) != 2 {
			t.Errorf("resolution %+v, want that of the operator's policy that has an opinion", got)
		}
		want := []string{"a merges static cluster fleet", "b merges static cluster fleet", "e merges static cluster fleet", "mine merges static cluster fleet"}
		if diff := cmp.Diff(want, s.called()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if got := resolve(t, p, contestOf("b", "")); got.Policy != "e" {
			t.Errorf("outside of the tenant: %+v", got)
		}
	})
}

func TestWhatMergePoliciesSayAndTakeIsToldBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.hooked("a", hookMerge, "abstain")
		d.hooked("b", hookMerge, "trap x")
		d.of("shop").hooked("mine", hookMerge, "reject")
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
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("d", "deny")
		d.of("shop").hooked("mine", hookMerge, "reject")
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
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.write("broken.toml", "api = 1")
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
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("a", "allow")
		p, _ := listed(t, d, s)
		run(t, p)
		change := func(step string, merge, filter bool) {
			t.Helper()
			<-p.Changed()
			synctest.Wait() // the others are told after it
			if got := told(p.Rules().Changed()); got != merge {
				t.Errorf("%s: merge policies changed: %t", step, got)
			}
			if got := told(p.FilterChanged()); got != filter {
				t.Errorf("%s: filters changed: %t", step, got)
			}
		}
		ask(t, p, question("web"))
		d.policy("a", "deny")
		change("an admission policy", false, false)
		d.hooked("m", hookMerge, "keep")
		change("a new merge policy", true, false)
		d.hooked("f", hookFilter, "pass")
		change("a filter beside a merge policy", true, true)
		d.remove("m.toml")
		change("no merge policy any more", true, true)
		d.hooked("f", hookFilter, "pass", "mode = \"off\"")
		change("a filter that is switched off", false, true)
		d.policy("a", "allow")
		change("an admission policy beside one that is off", false, false)
	})
}
