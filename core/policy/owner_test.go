package policy

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

// tenanted adds tenants to a configuration: each owns the namespaces that begin with its
// name, and has the policy directory tenants/NAME below the operator's.
func tenanted(d policytest.Tree, names ...string) func(*Config) {
	return func(c *Config) {
		for _, name := range names {
			c.Tenants = append(c.Tenants, Tenant{
				Name: name, Dir: filepath.Join(d.Dir, "tenants", name),
				Owns: func(namespace string) bool { return strings.HasPrefix(namespace, name) },
			})
		}
	}
}

func in(namespace string) func(*api.Question) {
	return func(q *api.Question) { q.Pod.Namespace = namespace }
}

func TestAPodIsJudgedByItsTenantsPoliciesAndThenTheOperators(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("node", "allow")
		d.Of("a").Policy("mine", "deny No not here")
		d.Of("b").Policy("mine", "allow")
		p, _ := listed(t, d, s, tenanted(d, "a", "b"))
		run(t, p)
		for namespace, want := range map[string]api.Verdict{
			"shop": {Answer: api.Allow, Policy: "node", Opinions: []api.Opinion{{Policy: "node", Answer: api.Allow}}},
			"a-web": {
				Answer: api.Deny, Policy: "mine", Tenant: "a", Reason: "No", Message: `policy "mine" of tenant "a": not here`,
				Opinions: []api.Opinion{
					{Policy: "mine", Tenant: "a", Answer: api.Deny, Reason: "No", Message: "not here"}, {Policy: "node", Answer: api.Allow},
				},
			},
			"b-web": {
				Answer: api.Allow, Policy: "mine", Tenant: "b",
				Opinions: []api.Opinion{{Policy: "mine", Tenant: "b", Answer: api.Allow}, {Policy: "node", Answer: api.Allow}},
			},
		} {
			got := ask(t, p, policytest.Question("web", in(namespace)))
			want.At = got.At
			sets := p.Sets()
			want.Sets = []string{sets[0].Digest}
			if tenant, _, ok := strings.Cut(namespace, "-"); ok {
				want.Sets = []string{tenant + "/" + setOf(t, p, tenant).Digest, sets[0].Digest}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: verdict (-want +got):\n%s", namespace, diff)
			}
		}
	})
}

func setOf(t *testing.T, p *Engine, tenant string) api.PolicySet {
	t.Helper()
	for _, s := range p.Sets() {
		if s.Tenant == tenant {
			return s
		}
	}
	t.Fatalf("no set of tenant %q", tenant)
	return api.PolicySet{}
}

func TestATenantWithoutAGoodSetHoldsItsOwnPodsOnly(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("node", "allow")
		d.Of("a").Write("broken.toml", "api = 1")
		d.Of("b").Policy("mine", "allow")
		p, _ := listed(t, d, s, tenanted(d, "a", "b"))
		run(t, p)
		if got := ask(t, p, policytest.Question("web", in("a-web"))); got.Answer != api.Hold || got.Reason != api.ReasonPoliciesNotReady ||
			!strings.Contains(got.Message, d.Of("a").Dir) {
			t.Errorf("verdict %+v, want that tenant's pods held", got)
		}
		for _, namespace := range []string{"shop", "b-web"} {
			if got := ask(t, p, policytest.Question("web", in(namespace))); got.Answer != api.Allow {
				t.Errorf("%s: verdict %+v", namespace, got)
			}
		}
		d.Of("a").Remove("broken.toml")
		d.Of("a").Policy("good", "allow")
		<-p.Changed()
		if got := ask(t, p, policytest.Question("web", in("a-web"))); got.Answer != api.Allow {
			t.Errorf("verdict %+v after the set was mended", got)
		}
	})
}

func TestWithoutTheOperatorsSetAllPodsAreHeld(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Write("broken.toml", "api = 1")
		d.Of("a").Policy("mine", "allow")
		p, _ := listed(t, d, s, tenanted(d, "a"))
		run(t, p)
		for _, namespace := range []string{"shop", "a-web"} {
			if got := ask(t, p, policytest.Question("web", in(namespace))); got.Reason != api.ReasonPoliciesNotReady {
				t.Errorf("%s: verdict %+v", namespace, got)
			}
		}
		if calls := s.Calls(); len(calls) > 0 {
			t.Errorf("asked: %q", calls)
		}
	})
}

func TestTenantsMayHavePoliciesWhereTheOperatorHasNone(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Of("a").Policy("mine", "deny")
		p, _ := listed(t, d, s, tenanted(d, "a"), func(c *Config) { c.Dir = "" })
		run(t, p)
		if got := ask(t, p, policytest.Question("web", in("shop"))); got.Answer != api.Allow || len(got.Sets) > 0 {
			t.Errorf("the operator's pod: %+v", got)
		}
		if got := ask(t, p, policytest.Question("web", in("a-web"))); got.Answer != api.Deny || len(got.Sets) != 1 {
			t.Errorf("the tenant's pod: %+v", got)
		}
	})
}

func TestATenantWhoseSetIsStillLoadedHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("node", "allow")
		d.Of("a").Policy("slow", "wait", "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
		d.Of("a").Write("a.yaml", policytest.ManifestText)
		p, _ := listed(t, d, s, tenanted(d, "a"))
		waits := make(chan api.Verdict, 1)
		p.Judge(policytest.Question("first", in("a-web")), func(v api.Verdict) { waits <- v })
		run(t, p)
		<-s.Waits
		if got := ask(t, p, policytest.Question("web", in("shop"))); got.Answer != api.Allow {
			t.Errorf("verdict %+v", got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		select {
		case v := <-waits:
			t.Errorf("verdict %+v before the tenant's set was loaded", v)
		default:
		}
		close(s.Free)
		if v := <-waits; v.Answer != api.Deny || v.Tenant != "a" {
			t.Errorf("verdict %+v, want that of the tenant's set", v)
		}
	})
}

func TestAPluginIsToldWhoseThePodIs(t *testing.T) {
	t.Parallel()
	for namespace, tenant := range map[string]string{"shop": "", "a-web": "a"} {
		d, s := policytest.NewTree(t), policytest.NewScripts()
		d.Policy("p", "allow")
		c := testConfig(d, s)
		c.Tenants = []Tenant{{Name: "a", Owns: func(namespace string) bool { return namespace == "a-web" }}}
		asked, _ := asksOf(t, c, s, policytest.Question("web", in(namespace)))
		if got := asked["p"].Tenant; got != tenant {
			t.Errorf("%s: tenant %q, want %q", namespace, got, tenant)
		}
	}
}

func TestAPluginIsCompiledInTheTurnOfItsOwner(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("node", "allow")
		d.Of("a").Policy("mine", "allow")
		p, _ := listed(t, d, s, tenanted(d, "a"))
		run(t, p)
		ask(t, p, policytest.Question("web", in("a")))
		if node, mine := s.Options["node"].Tenant, s.Options["mine"].Tenant; node != "" || mine != "a" {
			t.Errorf("loaded for %q and %q", node, mine)
		}
	})
}
