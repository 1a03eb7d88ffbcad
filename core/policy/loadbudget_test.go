package policy

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// paying gives the tenant "shop" a rate of fuel.
func paying(d tree, perSecond int64) func(*Config) {
	return func(c *Config) {
		tenanted(d, "shop")(c)
		c.Tenants[0].FuelPerSecond = perSecond
	}
}

// spent is what the reader and the loader of a tenant's directory pay.
func spent(t *testing.T, d tree, s *scripts) (reading, loading int64) {
	t.Helper()
	const rate = 1 << 40
	of := newBudgets([]Tenant{{Name: "shop", FuelPerSecond: rate}}, instant).loading
	c := testConfig(d, s)
	c.loads = &loadBudget{from: of, tenant: "shop", now: func() time.Time { return instant }}
	l := loader{cfg: &c, tenant: "shop"}
	got := read(&c)
	if set, err := l.load(t.Context(), got, nil); err == nil {
		set.release()
	}
	return got.took(), most(rate) - of.of["shop"].left
}

func TestWhatEachStepOfLoadingTookIsPaid(t *testing.T) {
	t.Parallel()
	const test = "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"\n"
	filter := strings.Replace(documentOf("p", "pass", strings.ReplaceAll(test, "allow", "pass")), "admit", "filter", 1)
	merge := strings.Replace(documentOf("p", "keep", "[[test]]\nexpect = \"keep\"\n"+strings.Repeat("[[test.candidate]]\npod = \"a.yaml\"\nsource = \"s\"\n", 2)), "admit", "merge", 1)
	one := int64(len(manifestText) * textByteFuel)
	patch := `[{"op":"add","path":"/metadata/labels/x","value":"y"}]`
	for name, tc := range map[string]struct {
		script, document string
		starts           int64
		patch            string
		// want is beside the module's bytes.
		want int64
	}{
		"a start":                    {"allow", documentOf("p", "allow"), 500, "", 500 + 11},
		"one that fails":             {"broken x", documentOf("p", "broken x"), 500, "", 500},
		"tests and their pods":       {"allow", documentOf("p", "allow", test+test), 0, "", 2*(one+30) + 11},
		"one that fails, too":        {"trap x", documentOf("p", "trap x", test), 0, "", one + 30},
		"one that is not asked":      {"allow", documentOf("p", "allow", "[match]\nnamespaces = [\"x\"]", test), 0, "", one},
		"one of a filter":            {"pass", filter, 0, "", one + 5 + 11},
		"one of a merge policy":      {"keep", merge, 0, "", 2*one + 3 + 11},
		"a patch":                    {"allow", documentOf("p", "allow", "mutable_paths = [\"/metadata/labels\"]\n"+test), 0, patch, one + 30 + 11 + patchFuel},
		"nothing of one that is off": {"allow", documentOf("p", "allow", "mode = \"off\"", test), 500, "", -1},
	} {
		d, s := newTree(t), newScripts()
		s.loadFuel, s.warmFuel, s.admitFuel = map[string]int64{"p": tc.starts}, 11, 30
		s.edit = func(_ string, r *wasm.Result) { r.Patch = []byte(tc.patch) }
		d.write("p.wasm", tc.script)
		d.write("p.toml", tc.document)
		d.write("a.yaml", manifestText)
		want := tc.want + moduleByteFuel*int64(len(tc.script))
		if tc.want < 0 {
			want = 0
		}
		slack := int64(0)
		if tc.patch != "" {
			slack = 10 * patchFuel // for the bytes of the pod
		}
		if _, got := spent(t, d, s); got < want || got > want+slack {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// A module that takes the host long is paid by what it took, also where it is
// refused; every other one by its length.
func TestLoadBudget_modulesArePaidByWhatTheyTake(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"allow", "broken x"} {
		for cost, want := range map[time.Duration]int64{
			0:           moduleByteFuel * int64(len(script)),
			time.Second: 2_000_000_000,
		} {
			d, s := newTree(t), newScripts()
			s.loadCost = cost
			d.policy("p", script)
			if _, got := spent(t, d, s); got != want {
				t.Errorf("%q that takes the host %v is charged %d, want %d", script, cost, got, want)
			}
		}
	}
}

func TestConditionsOfTestsArePaid(t *testing.T) {
	t.Parallel()
	took := func(conditions string) int64 {
		d, s := newTree(t), newScripts()
		d.policy("p", "allow", "[match]\nconditions = ["+conditions+"]\n[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"")
		d.write("a.yaml", manifestText)
		_, fuel := spent(t, d, s)
		return fuel
	}
	if without, with := took(""), took(`"object.metadata.name.startsWith('web')"`); with < without+conditionFuel {
		t.Errorf("%d, and %d without", with, without)
	}
}

func TestDocumentsAreDearerToReadThanModules(t *testing.T) {
	t.Parallel()
	d, s := newTree(t), newScripts()
	d.policy("p", "broken "+strings.Repeat("x", 10_000))
	before, _ := spent(t, d, s)
	d.write("p.toml", documentOf("p", "broken", "#"+strings.Repeat("x", 10_000)))
	after, _ := spent(t, d, s)
	if document := after - before; before < 10_000*readByteFuel || document < 10_000*documentByteFuel {
		t.Errorf("10 000 bytes of a module cost %d, and of a document %d more", before, document)
	}
}

func TestLoadingWaitsForItsBudgetAndSaysSo(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		s.loadFuel = map[string]int64{"a": 30_000_000, "b": 30_000_000}
		shop := d.of("shop")
		shop.policy("a", "allow")
		shop.policy("b", "deny")
		d.policy("operators", "allow")
		p, l := listed(t, d, s, paying(d, 1_000_000))
		stop := run(t, p)
		held := ask(t, p, question("web"))
		want := `tenant "shop" has spent what its fuel_per_second lets loading policies take, which goes on when there is some again; policy "b" is next`
		if held.Reason != api.ReasonPoliciesNotReady || !strings.Contains(held.Message, want) || l.count("loading policies waits") != 1 {
			t.Errorf("verdict %+v; logged %q", held, l.lines())
		}
		if set := p.Sets()[1]; set.Ready || !strings.Contains(set.Refused, want) || set.RefusedAt.IsZero() {
			t.Errorf("set %+v", set)
		}
		if v := ask(t, p, question("web", in("others"))); v.Answer != api.Allow {
			t.Errorf("of nobody's pod: %+v", v)
		}
		time.Sleep(30 * time.Second)
		if v := ask(t, p, question("web")); v.Answer != api.Deny || v.Reason != api.ReasonPolicyDenied {
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
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("operators", "allow")
		s.loadFuel = map[string]int64{"a": 30_000_000, "b": 1}
		shop := d.of("shop")
		shop.policy("a", "allow")
		p, _ := listed(t, d, s, paying(d, 1_000_000))
		run(t, p)
		ask(t, p, question("web"))
		shop.policy("b", "deny")
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
		if v := ask(t, p, question("web")); v.Answer != api.Allow {
			t.Errorf("meanwhile: %+v", v)
		}
		must(t, <-reloaded)
		if set := p.Sets()[1]; set.Refused != "" {
			t.Errorf("set %+v", set)
		}
	})
}

func TestAPolicySetThatIsRewrittenForEverTakesWhatItsTenantHas(t *testing.T) {
	t.Parallel()
	const rate, start, test = 5_000_000, 20_000_000, 3_000_000
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("operators", "allow")
		s.loadFuel, s.admitFuel = map[string]int64{"a": start}, test
		shop := d.of("shop")
		shop.write("a.yaml", manifestText)
		shop.policy("a", "allow")
		p, _ := listed(t, d, s, paying(d, rate))
		run(t, p)
		ask(t, p, question("web"))
		began := time.Now()
		for n := range 600 {
			shop.policy("a", fmt.Sprintf("allow # %d", n), strings.Repeat("[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"\n", 5))
			time.Sleep(time.Second)
		}
		synctest.Wait()
		passed := int64(time.Since(began) / time.Second)
		if took := int64(s.loads)*start + int64(len(s.called()))*test; took > rate*(passed+2*10) || s.loads < 10 {
			t.Errorf("%d loads took %d in %d s", s.loads, took, passed)
		}
		if v := ask(t, p, question("web")); v.Answer != api.Allow {
			t.Errorf("its pods: %+v", v)
		}
	})
}

func TestLoadingThatWaitsGoesOnWithOtherTermsAndEndsWithThePlane(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("operators", "allow")
		s.loadFuel = map[string]int64{"a": 1 << 40, "b": 1 << 45, "c": 1}
		for _, name := range []string{"a", "b", "c"} {
			d.of("shop").policy(name, "allow")
		}
		p, l := listed(t, d, s, paying(d, 1_000_000))
		stop := run(t, p)
		ask(t, p, question("web")) // is held
		if in := s.inUse(); len(in) != 2 {
			t.Errorf("loaded: %v", in)
		}
		terms := p.cfg.Terms()
		terms.Tenants["shop"] = TenantTerms{FuelPerSecond: 1 << 40}
		p.SetTerms(terms)
		time.Sleep(5 * time.Second)
		terms.Tenants["shop"] = TenantTerms{FuelPerSecond: 1_000_000}
		p.SetTerms(terms)
		if in := s.inUse(); len(in) != 3 {
			t.Errorf("loaded: %v", in)
		}
		began := time.Now()
		stop()
		if in := s.inUse(); time.Since(began) != 0 || len(in) > 0 || l.count("given up") > 0 {
			t.Errorf("after %s still loaded: %v; log %q", time.Since(began), in, l.lines())
		}
	})
}

func TestTheOperatorsPoliciesAreLoadedWhateverThatTakes(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		s.loadFuel = map[string]int64{"a": 1 << 50, "b": 1}
		d.policy("a", "allow")
		d.policy("b", "allow")
		p, _ := listed(t, d, s, paying(d, 1_000_000))
		run(t, p)
		if v := ask(t, p, question("web", in("others"))); len(v.Opinions) != 2 {
			t.Errorf("verdict %+v", v)
		}
	})
}

func TestFilesDoNotKeepChangingBecauseTheirReadingWaits(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		long := "# " + strings.Repeat("x", 15_000)
		d.policy("operators", "allow")
		d.of("shop").policy("a", "allow", long)
		p, l := listed(t, d, s, paying(d, 6_000_000))
		run(t, p)
		time.Sleep(12 * time.Second) // it was read once, which took 30 s
		d.of("shop").policy("a", "deny", long)
		time.Sleep(2 * time.Minute)
		if v := ask(t, p, question("web")); v.Answer != api.Deny || l.count("keep changing") > 0 {
			t.Errorf("verdict %+v; logged %q", v, l.lines())
		}
	})
}

func TestASetThatChangesWhileItsLoadingWaitsIsReadAnew(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		s.loadFuel = map[string]int64{"b": 800_000_000}
		d.policy("operators", "allow")
		shop := d.of("shop")
		shop.policy("a", "allow")
		shop.policy("b", "allow")
		shop.policy("c", "allow")
		p, l := listed(t, d, s, paying(d, 10_000_000))
		run(t, p)
		time.Sleep(30 * time.Second) // c waits for 40 s more
		shop.policy("c", "deny")
		reloaded := make(chan error, 1)
		go func() {
			_, err := p.Reload(t.Context(), "shop")
			reloaded <- err
		}()
		time.Sleep(2*listPeriod + settleTime)
		s.mu.Lock()
		s.loadFuel["b"] = 1
		s.mu.Unlock()
		time.Sleep(70 * time.Second)
		select {
		case err := <-reloaded:
			must(t, err)
		default:
			t.Fatalf("the order is not carried out: %+v; logged %q", p.Sets()[1], l.lines())
		}
		if v := ask(t, p, question("web")); v.Answer != api.Deny || s.options["c"].Policy != "c" {
			t.Errorf("verdict %+v", v)
		}
		if set := p.Sets()[1]; set.Generation != 1 || set.Refused != "" || l.count("are refused") > 0 || l.count("policies are in force") != 2 {
			t.Errorf("set %+v; logged %q", set, l.lines())
		}
	})
}
