package policy

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestATenantThatSpentItsBudgetWaitsAndNobodyElse(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("node", "deny")
		d.Hooked("late", api.HookFilter, "pass")
		d.Hooked("keeps", api.HookMerge, "keep")
		s.Edit = func(_ string, r *wasm.Result) { r.Fuel = 3000 }
		p, _ := listed(t, d, s, tenanted(d, "a", "b"), patient, func(c *Config) {
			for i := range c.Tenants {
				c.Tenants[i].Dir, c.Tenants[i].FuelPerSecond = "", 100
			}
		})
		run(t, p)
		want := func(step, namespace string, answer api.Answer, reason string) api.Verdict {
			t.Helper()
			v := ask(t, p, policytest.Question("web", in(namespace)))
			if v.Answer != answer || v.Reason != reason {
				t.Errorf("%s: verdict %+v", step, v)
			}
			return v
		}
		want("a full budget", "a", api.Deny, api.ReasonPolicyDenied)
		v := want("all is spent", "a", api.Hold, api.ReasonBudgetExhausted)
		if v.RetryAfter < 19*time.Second || v.RetryAfter > 21*time.Second || v.Message != `tenant "a" has spent its fuel_per_second` || len(v.Opinions) > 0 {
			t.Errorf("verdict %+v", v)
		}
		f := filterBy(t, p, filterQuestion("a"))
		if f.Answer != api.Defer || f.Reason != api.ReasonBudgetExhausted || f.After != v.RetryAfter || f.Limit != 24*time.Hour {
			t.Errorf("filter %+v", f)
		}
		decided := make(chan api.Resolution, 1)
		p.Rules().Resolve(contestOf("a", "fleet"), func(r api.Resolution) { decided <- r })
		synctest.Wait()
		if len(decided) > 0 || slices.ContainsFunc(s.Calls(), func(call string) bool { return strings.Contains(call, "merges") }) {
			t.Errorf("a contest of a tenant that has spent its budget is decided: %+v", <-decided)
		}
		if r := resolve(t, p, contestOf("b", "fleet")); r.Choice != api.ChooseCurrent {
			t.Errorf("a contest of another tenant: %+v", r)
		}
		want("another tenant", "b", api.Deny, api.ReasonPolicyDenied)
		want("the operator", "shop", api.Deny, api.ReasonPolicyDenied)
		want("the operator again", "shop", api.Deny, api.ReasonPolicyDenied)
		time.Sleep(time.Second)
		if again := want("a second later", "a", api.Hold, api.ReasonBudgetExhausted); !again.Same(&v) {
			t.Errorf("what is said a second later is news: %+v", again)
		}
		if shown := p.Decisions(); len(shown) != 4 {
			t.Errorf("without a verdict there is nothing to put on record: %+v", shown)
		}
		time.Sleep(v.RetryAfter)
		if r := <-decided; r.Choice != api.ChooseCurrent {
			t.Errorf("a contest, once there is something in the budget: %+v", r)
		}
		want("refilled", "a", api.Deny, api.ReasonPolicyDenied)
	})
}

func TestAnExemptPodIsJudgedAlsoWhereTheBudgetIsSpent(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("node", "deny")
		s.Edit = func(_ string, r *wasm.Result) { r.Fuel = 3000 }
		p, _ := listed(t, d, s, tenanted(d, "a"), patient, func(c *Config) {
			c.Tenants[0].Dir, c.Tenants[0].FuelPerSecond = "", 100
			c.Exempt = []string{"a/dns"}
		})
		run(t, p)
		for _, step := range []struct {
			name, reason string
		}{
			{"web", api.ReasonPolicyDenied}, {"web", api.ReasonBudgetExhausted}, {"dns", api.ReasonPolicyDenied}, {"web", api.ReasonBudgetExhausted},
		} {
			if v := ask(t, p, policytest.Question(step.name, in("a"))); v.Reason != step.reason {
				t.Errorf("pod %s: verdict %+v, want %s", step.name, v, step.reason)
			}
		}
	})
}
