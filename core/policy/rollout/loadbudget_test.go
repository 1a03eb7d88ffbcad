package rollout

import (
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/bundle"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestConditionsOfTestsArePaid(t *testing.T) {
	t.Parallel()
	took := func(conditions string) int64 {
		d, s := policytest.NewTree(t), policytest.NewScripts()
		d.Policy("p", "allow", "[match]\nconditions = ["+conditions+"]\n[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"")
		d.Write("a.yaml", policytest.ManifestText)
		_, fuel := spent(t, d, s)
		return fuel
	}
	if without, with := took(""), took(`"object.metadata.name.startsWith('web')"`); with < without+eval.ConditionFuel {
		t.Errorf("%d, and %d without", with, without)
	}
}

func TestDocumentsAreDearerToReadThanModules(t *testing.T) {
	t.Parallel()
	d, s := policytest.NewTree(t), policytest.NewScripts()
	d.Policy("p", "broken "+strings.Repeat("x", 10_000))
	before, _ := spent(t, d, s)
	d.Write("p.toml", policytest.DocumentOf("p", "broken", "#"+strings.Repeat("x", 10_000)))
	after, _ := spent(t, d, s)
	if document := after - before; before < 10_000*bundle.ReadByteFuel || document < 10_000*bundle.DocumentByteFuel {
		t.Errorf("10 000 bytes of a module cost %d, and of a document %d more", before, document)
	}
}

// TestLoadBudget_modulesArePaidByWhatTheyTake checks that a module that takes long to load is
// charged for the time, even if it is refused, and every other module for its length.
func TestLoadBudget_modulesArePaidByWhatTheyTake(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"allow", "broken x"} {
		for cost, want := range map[time.Duration]int64{
			0:           moduleByteFuel * int64(len(script)),
			time.Second: 2_000_000_000,
		} {
			d, s := policytest.NewTree(t), policytest.NewScripts()
			s.LoadCost = cost
			d.Policy("p", script)
			if _, got := spent(t, d, s); got != want {
				t.Errorf("%q that takes the host %v is charged %d, want %d", script, cost, got, want)
			}
		}
	}
}

func TestWhatEachStepOfLoadingTookIsPaid(t *testing.T) {
	t.Parallel()
	const test = "[[test]]\npod = \"a.yaml\"\nexpect = \"allow\"\n"
	filter := strings.Replace(policytest.DocumentOf("p", "pass", strings.ReplaceAll(test, "allow", "pass")), "admit", "filter", 1)
	merge := strings.Replace(policytest.DocumentOf("p", "keep", "[[test]]\nexpect = \"keep\"\n"+strings.Repeat("[[test.candidate]]\npod = \"a.yaml\"\nsource = \"s\"\n", 2)), "admit", "merge", 1)
	one := int64(len(policytest.ManifestText) * textByteFuel)
	patch := `[{"op":"add","path":"/metadata/labels/x","value":"y"}]`
	for name, tc := range map[string]struct {
		script, document string
		starts           int64
		patch            string
		// want is the expected fuel without that for the module's bytes.
		want int64
	}{
		"a start":                    {"allow", policytest.DocumentOf("p", "allow"), 500, "", 500 + 11},
		"one that fails":             {"broken x", policytest.DocumentOf("p", "broken x"), 500, "", 500},
		"tests and their pods":       {"allow", policytest.DocumentOf("p", "allow", test+test), 0, "", 2*(one+30) + 11},
		"one that fails, too":        {"trap x", policytest.DocumentOf("p", "trap x", test), 0, "", one + 30},
		"one that is not asked":      {"allow", policytest.DocumentOf("p", "allow", "[match]\nnamespaces = [\"x\"]", test), 0, "", one},
		"one of a filter":            {"pass", filter, 0, "", one + 5 + 11},
		"one of a merge policy":      {"keep", merge, 0, "", 2*one + 3 + 11},
		"a patch":                    {"allow", policytest.DocumentOf("p", "allow", "mutable_paths = [\"/metadata/labels\"]\n"+test), 0, patch, one + 30 + 11 + eval.PatchFuel},
		"nothing of one that is off": {"allow", policytest.DocumentOf("p", "allow", "mode = \"off\"", test), 500, "", -1},
	} {
		d, s := policytest.NewTree(t), policytest.NewScripts()
		s.LoadFuel, s.WarmFuel, s.AdmitFuel = map[string]int64{"p": tc.starts}, 11, 30
		s.Edit = func(_ string, r *wasm.Result) { r.Patch = []byte(tc.patch) }
		d.Write("p.wasm", tc.script)
		d.Write("p.toml", tc.document)
		d.Write("a.yaml", policytest.ManifestText)
		want := tc.want + moduleByteFuel*int64(len(tc.script))
		if tc.want < 0 {
			want = 0
		}
		slack := int64(0)
		if tc.patch != "" {
			slack = 10 * eval.PatchFuel // for the bytes of the pod
		}
		if _, got := spent(t, d, s); got < want || got > want+slack {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

// spent returns what reading and loading a tenant's directory cost.
func spent(t *testing.T, d policytest.Tree, s *policytest.Scripts) (reading, loading int64) {
	t.Helper()
	const rate = 1 << 40
	of := sched.NewBudgets(map[string]int64{"shop": rate}, policytest.Instant).Loading
	c := optionsFor(d, s)
	c.Tenant = "shop"
	c.loads = &loadBudget{from: of, tenant: "shop", now: func() time.Time { return policytest.Instant }}
	l := Loader{Options: &c}
	got := bundle.Read(c.Options)
	if set, err := l.load(t.Context(), got, nil); err == nil {
		set.Release()
	}
	return got.Took(), sched.MostOf(rate) - of.LeftOf("shop")
}
