package policy

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// shownBy returns an engine's decisions, each with its count and the ID of its record.
func shownBy(p *Engine) (all []string) {
	for _, d := range p.Decisions() {
		all = append(all, fmt.Sprintf("%s %s/%s %s %s ×%d as %s", d.Hook, d.Namespace, d.Name, d.Verdict.Answer, d.Verdict.Reason, d.Count, d.ID))
	}
	return all
}

func TestWhatIsOnRecord(t *testing.T) {
	t.Parallel()
	contest := func(t *testing.T, p *Engine) {
		t.Helper()
		resolved := make(chan api.Resolution, 1)
		p.Rules().Resolve(api.Contest{Identity: types.NamespacedName{Namespace: "a", Name: "web"}, Candidates: []api.Candidate{
			{Pod: policytest.SomePod("web"), Origin: api.Origin{Source: "static", Document: "a#0"}, Running: policytest.SomePod("web")},
			{Pod: policytest.SomePod("other"), Origin: api.Origin{Source: "cluster", Document: "b#0"}},
		}}, func(r api.Resolution) { resolved <- r })
		<-resolved
	}
	for name, test := range map[string]struct {
		policies func(d policytest.Tree)
		// spent is set if one decision about shop/first has exhausted the tenant's budget.
		spent bool
		ask   func(t *testing.T, p *Engine)
		want  []string
	}{
		"a verdict, once however often it is given": {
			policies: func(d policytest.Tree) { d.Policy("p", "deny") },
			ask: func(t *testing.T, p *Engine) {
				t.Helper()
				ask(t, p, policytest.Question("web", in("a")))
				ask(t, p, policytest.Question("web", in("a")))
			},
			want: []string{"admit a/web deny PolicyDenied ×2 as a-1"},
		},
		"that policies are not ready, once": {
			policies: func(d policytest.Tree) { d.Write("p.toml", "broken") },
			ask: func(t *testing.T, p *Engine) {
				t.Helper()
				for range 3 {
					ask(t, p, policytest.Question("web", in("a")))
				}
			},
			want: []string{"admit a/web hold PoliciesNotReady ×3 as a-1"},
		},
		"that a conflict goes on as it is while policies are not ready, once": {
			policies: func(d policytest.Tree) { d.Write("p.toml", "broken") },
			ask: func(t *testing.T, p *Engine) {
				t.Helper()
				contest(t, p)
				contest(t, p)
			},
			want: []string{"merge a/web current  ×2 as a-1"},
		},
		"nothing of a conflict and an update of which no policy is asked": {
			policies: func(d policytest.Tree) { d.Policy("p", "allow") },
			ask: func(t *testing.T, p *Engine) {
				t.Helper()
				contest(t, p)
				filterBy(t, p, filterQuestion("a"))
			},
		},
		"nothing where a spent budget leaves no verdict": {
			policies: func(d policytest.Tree) {
				d.Policy("p", "deny")
				d.Hooked("f", api.HookFilter, "drop")
			},
			spent: true,
			ask: func(t *testing.T, p *Engine) {
				t.Helper()
				for range 3 {
					if v := ask(t, p, policytest.Question("web", in("a"))); v.Reason != api.ReasonBudgetExhausted {
						t.Errorf("verdict %+v", v)
					}
					if v := filterBy(t, p, filterQuestion("a")); v.Reason != api.ReasonBudgetExhausted {
						t.Errorf("filter %+v", v)
					}
				}
			},
			want: []string{"admit a/first deny PolicyDenied ×1 as a-1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				test.policies(d)
				s.Edit = func(_ string, r *wasm.Result) { r.Fuel = 3000 }
				disk := &policytest.RecordDisk{}
				p, _ := listed(t, d, s, tenanted(d, "a"), patient, func(c *Config) {
					c.Records = disk
					c.Tenants[0].Dir = ""
					if test.spent {
						c.Tenants[0].FuelPerSecond = 100
					}
				})
				run(t, p)
				if test.spent {
					ask(t, p, policytest.Question("first", in("a")))
				}
				test.ask(t, p)
				synctest.Wait()
				if diff := cmp.Diff(test.want, shownBy(p)); diff != "" {
					t.Errorf("decisions (-want +got):\n%s", diff)
				}
				if written := disk.Has(); len(written) != len(test.want) {
					t.Errorf("written %q", written)
				}
			})
		})
	}
}
