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

func TestABudgetFillsUpToTenSeconds(t *testing.T) {
	t.Parallel()
	b := newBudgets([]Tenant{{Name: "a", FuelPerSecond: 100}, {Name: "b"}}, policytest.Instant)
	at := func(seconds float64) time.Time {
		return policytest.Instant.Add(time.Duration(seconds * float64(time.Second)))
	}
	for _, step := range []struct {
		what  string
		at    float64
		spend int64
		wait  time.Duration
	}{
		{"full", 0, 0, 0},
		{"all but one unit is spent", 0, 999, 0},
		{"all is spent", 0, 1, 11 * time.Millisecond},
		{"a unit has come in", 0.011, 0, 0},
		{"much more was spent than there was", 0.011, 301, 3011 * time.Millisecond},
		{"half of it has come in", 1.511, 0, 1511 * time.Millisecond},
		{"a clock that goes back", -1000, 0, 1511 * time.Millisecond},
		{"and goes on from there", -997, 0, 0},
		{"after a year it is full and no more", 1e7, 1000, 11 * time.Millisecond},
	} {
		b.spend("a", step.spend, at(step.at))
		if got := b.wait("a", at(step.at)); got != step.wait {
			t.Errorf("%s: wait %s, want %s", step.what, got, step.wait)
		}
	}
	b.spend("b", 1<<40, policytest.Instant)
	b.spend("", 1<<40, policytest.Instant)
	if b.wait("b", policytest.Instant) != 0 || b.wait("", policytest.Instant) != 0 {
		t.Error("who has no budget waits")
	}
}

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
