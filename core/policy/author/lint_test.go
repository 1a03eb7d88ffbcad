package author

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
)

func TestLint_saysWhatToLookAt(t *testing.T) {
	t.Parallel()
	const test = "[[test]]\npod = \"a.yaml\"\nexpect = \"deny\""
	for name, c := range map[string]struct {
		script, keys string
		want         []string
	}{
		"nothing":              {"deny", test, nil},
		"a policy that is off": {"deny", "mode = \"off\"\n" + test, []string{"the policy is off: its plugin is not loaded and its tests are not run"}},
		"failures that let pods pass": {
			"deny", "on_error = \"allow\"\n" + test, []string{`on_error = "allow" lets every pod pass that makes the plugin fail; "hold" is safer`},
		},
		"no tests": {"deny", "", []string{"there is no [[test]]: nothing shows that it does what it should before it is in force"}},
		"an exception that has expired": {
			"deny", "[[exception]]\npods = [\"a/b\"]\nowner = \"ops\"\nexpires = \"2026-11-02\"\n" + test,
			[]string{`the exception of ops for ["a/b"] has expired at 2026-11-03T00:00:00Z; remove it`},
		},
		"an exception that ends soon": {
			"deny", "[[exception]]\npods = [\"a/b\"]\nowner = \"ops\"\nexpires = \"2026-11-03\"\n" + test,
			[]string{`the exception of ops for ["a/b"] ends at 2026-11-04T00:00:00Z; the policy is asked about these pods then`},
		},
		"an exception that does not": {"deny", "[[exception]]\npods = [\"a/b\"]\nowner = \"ops\"\nexpires = \"2026-12-03\"\n" + test, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := policytest.NewTree(t), policytest.NewScripts()
			d.Policy("p", c.script, c.keys)
			d.Write("a.yaml", policytest.ManifestText)
			o := policiesIn(d, s)
			o.Now = func() time.Time { return policytest.Instant }
			set, advice, err := Lint(t.Context(), o)
			if err != nil || len(set.Policies) != 1 {
				t.Errorf("set %+v, %v", set, err)
			}
			var want []spec.Fault
			for _, text := range c.want {
				want = append(want, spec.Fault{File: d.Dir + "/p.toml", Message: text})
			}
			if diff := cmp.Diff(want, advice); diff != "" {
				t.Errorf("advice (-want +got):\n%s", diff)
			}
			if in := s.InUse(); len(in) > 0 {
				t.Errorf("still loaded: %q", in)
			}
		})
	}
}

func TestLint_namesWhatIsNotPinned(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Write("p.wasm", "deny")
	d.Write("p.toml", "api = \"wardlet.dev/v1\"\nname = \"p\"\nmodule = \"p.wasm\"\nhooks = [\"admit\", \"filter\"]\n[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"\n")
	d.Write("a.yaml", policytest.ManifestText)
	o := policiesIn(d, policytest.NewScripts())
	o.AllowUnpinned = true
	_, advice, err := Lint(t.Context(), o)
	if err != nil || len(advice) != 2 || !strings.Contains(advice[0].Message, "sha256 is missing: whoever can replace p.wasm") ||
		!strings.Contains(advice[1].Message, "there is no [[test]] of the hook filter") {
		t.Errorf("%v: %+v", err, advice)
	}
}

func TestLint_failsIfTheSetWouldBeRefused(t *testing.T) {
	t.Parallel()
	d := policytest.NewTree(t)
	d.Policy("p", "allow", "on_error = \"allow\"\n[[test]]\npod = \"a.yaml\"\nexpect = \"deny\"")
	d.Write("a.yaml", policytest.ManifestText)
	_, advice, err := Lint(t.Context(), policiesIn(d, policytest.NewScripts()))
	if err == nil || !strings.Contains(err.Error(), "want deny, got allow") || len(advice) != 1 {
		t.Errorf("%v, %+v", err, advice)
	}
}
