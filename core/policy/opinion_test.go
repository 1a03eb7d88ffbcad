package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestACodeThatIsNoReasonIsReplaced(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"ImageNotAllowed":                   "ImageNotAllowed",
		"X":                                 "X",
		"A" + strings.Repeat("b", 63):       "A" + strings.Repeat("b", 63),
		"A" + strings.Repeat("b", 64):       api.ReasonPolicyDenied,
		"":                                  api.ReasonPolicyDenied,
		"imageNotAllowed":                   api.ReasonPolicyDenied,
		"Image-Not-Allowed":                 api.ReasonPolicyDenied,
		"ImageNotAllowed\n":                 api.ReasonPolicyDenied,
		"Bildverböten":                      api.ReasonPolicyDenied,
		"7Up":                               api.ReasonPolicyDenied,
		"PolicyFailed":                      api.ReasonPolicyDenied,
		"PoliciesNotReady":                  api.ReasonPolicyDenied,
		"DefaultVerdict":                    api.ReasonPolicyDenied,
		"Adopted":                           api.ReasonPolicyDenied,
		"BudgetExhausted":                   api.ReasonPolicyDenied,
		"VerdictNotKept":                    api.ReasonPolicyDenied,
		"Exception":                         api.ReasonPolicyDenied,
		"FilterNotAnswered":                 api.ReasonPolicyDenied,
		"PolicySuppressed":                  api.ReasonPolicyDenied,
		strings.ToUpper("all capitals")[:3]: "ALL",
	} {
		if got := reason(api.Deny, code); got != want {
			t.Errorf("code %q: reason %s, want %s", code, got, want)
		}
	}
	for answer, want := range map[api.Answer]string{api.Hold: api.ReasonPolicyHeld, api.Allow: "", api.Abstain: ""} {
		if got := reason(answer, "no code"); got != want {
			t.Errorf("%s: reason %q, want %q", answer, got, want)
		}
	}
}

func TestAFailureIsLoggedOnceUntilItIsAnother(t *testing.T) {
	t.Parallel()
	d, s, l := policytest.NewTree(t), policytest.NewScripts(), &policytest.Logs{}
	d.Policy("p", "trap one")
	first, err := loadFor(t, d, s, nil, "", l.Logger())
	policytest.Must(t, err)
	d.Policy("p", "trap two")
	second, err := loadFor(t, d, s, first, "", l.Logger())
	policytest.Must(t, err)
	for _, loaded := range []*set{first, first, second, second, first} {
		judge(t.Context(), []*set{loaded}, deciding(policytest.Question("web")), api.Allow)
	}
	want := []string{}
	for _, what := range []string{"one", "two", "one"} {
		want = append(want, `level=WARN msg="a plugin failed, on_error decides" policy=p failure="the plugin failed with Trap: `+what+`" on_error=hold`)
	}
	if diff := cmp.Diff(want, l.Lines()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if n := second.policies[0].counts.failed.Load(); n != 5 {
		t.Errorf("%d failures are counted, want 5", n)
	}
}
