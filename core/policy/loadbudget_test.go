package policy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/rollout"
)

// paying sets a rate of fuel for the tenant "shop".
func paying(d policytest.Tree, perSecond int64) func(*Config) {
	return func(c *Config) {
		tenanted(d, "shop")(c)
		c.Tenants[0].FuelPerSecond = perSecond
	}
}

func TestLoadingWaitsForItsBudgetAndSaysSo(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		s.LoadFuel = map[string]int64{"a": 30_000_000, "b": 30_000_000}
		shop := d.Of("shop")
		shop.Policy("a", "allow")
		shop.Policy("b", "deny")
		d.Policy("operators", "allow")
		p, l := listed(t, d, s, paying(d, 1_000_000))
		stop := run(t, p)
		held := ask(t, p, policytest.Question("web"))
		want := `tenant "shop" has spent what its fuel_per_second lets loading policies take, which goes on when there is some again; policy "b" is next`
		if held.Reason != api.ReasonPoliciesNotReady || !strings.Contains(held.Message, want) || l.Count("loading policies waits") != 1 {
			t.Errorf("verdict %+v; logged %q", held, l.Lines())
		}
		if set := p.Sets()[1]; set.Ready || !strings.Contains(set.Refused, want) || set.RefusedAt.IsZero() {
			t.Errorf("set %+v", set)
		}
		if v := ask(t, p, policytest.Question("web", in("others"))); v.Answer != api.Allow {
			t.Errorf("of nobody's pod: %+v", v)
		}
		time.Sleep(30 * time.Second)
		if v := ask(t, p, policytest.Question("web")); v.Answer != api.Deny || v.Reason != api.ReasonPolicyDenied {
			t.Errorf("half a minute later: %+v", v)
		}
		if set := p.Sets()[1]; !set.Ready || set.Refused != "" {
			t.Errorf("set %+v", set)
		}
		stop()
	})
}

func TestAnOrderThatWaitsForTheBudgetOfLoadingIsShown(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("operators", "allow")
		s.LoadFuel = map[string]int64{"a": 30_000_000, "b": 1}
		shop := d.Of("shop")
		shop.Policy("a", "allow")
		p, _ := listed(t, d, s, paying(d, 1_000_000))
		run(t, p)
		ask(t, p, policytest.Question("web"))
		shop.Policy("b", "deny")
		reloaded := make(chan error, 1)
		go func() {
			set, err := p.Reload(t.Context(), "shop")
			if err == nil && (len(set.Policies) != 2 || set.Refused != "") {
				err = fmt.Errorf("set %+v", set)
			}
			reloaded <- err
		}()
		time.Sleep(time.Second)
		synctest.Wait()
		if set := p.Sets()[1]; !set.Ready || !strings.Contains(set.Refused, "not taken in yet") {
			t.Errorf("set %+v", set)
		}
		if v := ask(t, p, policytest.Question("web")); v.Answer != api.Allow {
			t.Errorf("meanwhile: %+v", v)
		}
		policytest.Must(t, <-reloaded)
		if set := p.Sets()[1]; set.Refused != "" {
			t.Errorf("set %+v", set)
		}
	})
}

func TestAPolicySetThatIsRewrittenForEverTakesWhatItsTenantHas(t *testing.T) {
	t.Parallel()
	const rate, start, test = 5_000_000, 20_000_000, 3_000_000
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("operators", "allow")
		s.LoadFuel, s.AdmitFuel = map[string]int64{"a": start}, test
		shop := d.Of("shop")
		shop.Write("a.yaml", policytest.ManifestText)
		shop.Policy("a", "allow")
		p, _ := listed(t, d, s, paying(d, rate))
		run(t, p)
		ask(t, p, policytest.Question("web"))
		began := time.Now()
		for n := range 600 {
			shop.Policy("a", fmt.Sprintf("allow # %d", n), strings.Repeat("[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"\n", 5))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		passed := int64(time.Since(began) / time.Second)
		if took := int64(s.Loads)*start + int64(len(s.Calls()))*test; took > rate*(passed+2*10) || s.Loads < 10 {
			t.Errorf("%d loads took %d in %d s", s.Loads, took, passed)
		}
		if v := ask(t, p, policytest.Question("web")); v.Answer != api.Allow {
			t.Errorf("its pods: %+v", v)
		}
	})
}

func TestLoadingThatWaitsGoesOnWithOtherTermsAndEndsWithThePlane(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("operators", "allow")
		s.LoadFuel = map[string]int64{"a": 1 << 40, "b": 1 << 45, "c": 1}
		for _, name := range []string{"a", "b", "c"} {
			d.Of("shop").Policy(name, "allow")
		}
		p, l := listed(t, d, s, paying(d, 1_000_000))
		stop := run(t, p)
		ask(t, p, policytest.Question("web")) // the pod is held
		if in := s.InUse(); len(in) != 2 {
			t.Errorf("loaded: %v", in)
		}
		terms := p.cfg.Terms()
		terms.Tenants["shop"] = TenantTerms{FuelPerSecond: 1 << 40}
		p.SetTerms(terms)
		time.Sleep(5 * time.Second)
		terms.Tenants["shop"] = TenantTerms{FuelPerSecond: 1_000_000}
		p.SetTerms(terms)
		if in := s.InUse(); len(in) != 3 {
			t.Errorf("loaded: %v", in)
		}
		began := time.Now()
		stop()
		if in := s.InUse(); time.Since(began) != 0 || len(in) > 0 || l.Count("is abandoned") > 0 {
			t.Errorf("after %s still loaded: %v; log %q", time.Since(began), in, l.Lines())
		}
	})
}

func TestTheOperatorsPoliciesAreLoadedWhateverThatTakes(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		s.LoadFuel = map[string]int64{"a": 1 << 50, "b": 1}
		d.Policy("a", "allow")
		d.Policy("b", "allow")
		p, _ := listed(t, d, s, paying(d, 1_000_000))
		run(t, p)
		if v := ask(t, p, policytest.Question("web", in("others"))); len(v.Opinions) != 2 {
			t.Errorf("verdict %+v", v)
		}
	})
}

func TestFilesDoNotKeepChangingBecauseTheirReadingWaits(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		long := "# " + strings.Repeat("x", 15_000)
		d.Policy("operators", "allow")
		d.Of("shop").Policy("a", "allow", long)
		p, l := listed(t, d, s, paying(d, 6_000_000))
		run(t, p)
		time.Sleep(12 * time.Second) // the directory was read once, which is to be paid for in 30 s
		d.Of("shop").Policy("a", "deny", long)
		time.Sleep(2 * time.Minute)
		if v := ask(t, p, policytest.Question("web")); v.Answer != api.Deny || l.Count("keep changing") > 0 {
			t.Errorf("verdict %+v; logged %q", v, l.Lines())
		}
	})
}

func TestASetThatChangesWhileItsLoadingWaitsIsReadAnew(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		s.LoadFuel = map[string]int64{"b": 800_000_000}
		d.Policy("operators", "allow")
		shop := d.Of("shop")
		shop.Policy("a", "allow")
		shop.Policy("b", "allow")
		shop.Policy("c", "allow")
		p, l := listed(t, d, s, paying(d, 10_000_000))
		run(t, p)
		time.Sleep(30 * time.Second) // c has to wait for 40 s more
		shop.Policy("c", "deny")
		reloaded := make(chan error, 1)
		go func() {
			_, err := p.Reload(t.Context(), "shop")
			reloaded <- err
		}()
		time.Sleep(2*rollout.ListPeriod + rollout.SettleTime)
		s.Mu.Lock()
		s.LoadFuel["b"] = 1
		s.Mu.Unlock()
		time.Sleep(70 * time.Second)
		select {
		case err := <-reloaded:
			policytest.Must(t, err)
		default:
			t.Fatalf("the order is not carried out: %+v; logged %q", p.Sets()[1], l.Lines())
		}
		if v := ask(t, p, policytest.Question("web")); v.Answer != api.Deny || s.Options["c"].Policy != "c" {
			t.Errorf("verdict %+v", v)
		}
		if set := p.Sets()[1]; set.Generation != 1 || set.Refused != "" || l.Count("are refused") > 0 || l.Count("policies are in force") != 2 {
			t.Errorf("set %+v; logged %q", set, l.Lines())
		}
	})
}
