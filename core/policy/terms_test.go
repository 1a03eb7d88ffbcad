package policy

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestOtherTermsCountWithoutARestart(t *testing.T) {
	t.Parallel()
	of := func(change func(*Terms)) func(*Engine, *Config) {
		return func(p *Engine, c *Config) {
			terms := c.Terms()
			change(&terms)
			p.SetTerms(terms)
		}
	}
	verdict := func(namespace, want string) func(t *testing.T, p *Engine) {
		return func(t *testing.T, p *Engine) {
			t.Helper()
			v := ask(t, p, policytest.Question("web", in(namespace)))
			if got := string(v.Answer) + " " + v.Reason; got != want {
				t.Errorf("verdict %q, want %q: %+v", got, want, v)
			}
		}
	}
	limit := func(namespace string, want time.Duration) func(t *testing.T, p *Engine) {
		return func(t *testing.T, p *Engine) {
			t.Helper()
			if v := filterBy(t, p, filterQuestion(namespace)); v.Limit != want {
				t.Errorf("limit %s, want %s: %+v", v.Limit, want, v)
			}
		}
	}
	paced := func(want api.Answer) func(t *testing.T, p *Engine) {
		return func(t *testing.T, p *Engine) {
			t.Helper()
			for i := range 2 {
				q := ofController("of-rs-"+strconv.Itoa(i), "rs", func(q *api.Question) { q.Origin.Source = "cluster" }, in("other"))
				if v := ask(t, p, q); i == 1 && v.Answer != want {
					t.Errorf("verdict %+v, want %s", v, want)
				}
			}
		}
	}
	for name, test := range map[string]struct {
		script        string
		set           func(*Terms)
		before, after func(t *testing.T, p *Engine)
	}{
		"default_verdict": {
			"abstain", func(c *Terms) { c.DefaultVerdict = api.Deny },
			verdict("other", "allow "), verdict("other", "deny DefaultVerdict"),
		},
		"default_verdict, left out": {
			"abstain", func(c *Terms) { c.DefaultVerdict, c.DenyAtOnce = "", true },
			verdict("other", "allow "), verdict("other", "allow "),
		},
		"exempt": {
			"trap", func(c *Terms) { c.Exempt = []string{"other/web"} },
			verdict("other", "hold PolicyFailed"), verdict("other", "allow PolicyFailed"),
		},
		"deny_pacing": {
			"deny", func(c *Terms) { c.DenyAtOnce = true },
			paced(api.Hold), paced(api.Deny),
		},
		"max_suppress": {
			"allow", func(c *Terms) { c.MaxSuppress = time.Minute },
			limit("other", time.Hour), limit("other", time.Minute),
		},
		"max_suppress of a tenant": {
			"allow", func(c *Terms) {
				c.MaxSuppress = time.Nanosecond
				c.Tenants["a"] = TenantTerms{MaxSuppress: time.Second}
			},
			limit("a", time.Hour), limit("a", time.Second),
		},
		"fuel_per_second of a tenant": {
			"deny", func(c *Terms) { c.Tenants["a"] = TenantTerms{FuelPerSecond: 1} },
			verdict("a", "deny PolicyDenied"),
			func(t *testing.T, p *Engine) {
				t.Helper()
				ask(t, p, policytest.Question("web", in("a")))
				verdict("a", "hold BudgetExhausted")(t, p)
			},
		},
		"a tenant that is not there": {
			"deny", func(c *Terms) { c.Tenants["new"] = TenantTerms{FuelPerSecond: 1} },
			verdict("new", "deny PolicyDenied"), verdict("new", "deny PolicyDenied"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				s.Edit = func(_ string, r *wasm.Result) { r.Fuel = 100 }
				d.Policy("p", test.script)
				d.Hooked("late", api.HookFilter, "drop")
				d.Of("a").Hooked("mine", api.HookFilter, "drop")
				var c Config
				p, _ := listed(t, d, s, tenanted(d, "a"), patient, func(made *Config) {
					made.Tenants[0].FuelPerSecond, made.Tenants[0].MaxSuppress = 1_000_000, 24*time.Hour
					c = *made
				})
				run(t, p)
				test.before(t, p)
				drain(p)
				of(test.set)(p, &c)
				synctest.Wait()
				if want := name != "a tenant that is not there"; fired(p) != want {
					t.Errorf("what waits is asked again: %t, want %t", !want, want)
				}
				test.after(t, p)
				of(func(*Terms) {})(p, &c)
				drain(p)
				of(func(*Terms) {})(p, &c)
				if fired(p) {
					t.Error("what waits is asked again though nothing changed")
				}
			})
		})
	}
}

func TestTermsMayChangeWhileEverybodyAsks(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("p", "abstain")
		p, _ := listed(t, d, s, tenanted(d, "a"), func(c *Config) { c.Tenants[0].Dir, c.Evaluators = "", 4 })
		run(t, p)
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for n := range 50 {
					p.SetTerms(Terms{DefaultVerdict: []api.Answer{api.Allow, api.Hold, api.Deny}[n%3], Tenants: map[string]TenantTerms{"a": {FuelPerSecond: int64(n) * 1000}}})
				}
			})
			all.Go(func() {
				for range 50 {
					ask(t, p, policytest.Question("web-"+strconv.Itoa(i), in("a")))
				}
			})
		}
		all.Wait()
	})
}
