package eval

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// loadScripts returns a set of policies p0, p1, … with these scripts. The text after the
// first newline has further keys.
func loadScripts(t *testing.T, s *policytest.Scripts, texts ...string) *Set {
	t.Helper()
	d := policytest.NewTree(t)
	for i, text := range texts {
		script, keys, _ := strings.Cut(text, "\n")
		d.Policy(fmt.Sprintf("p%d", i), script, keys)
	}
	got, err := loadOnce(t, d, s, nil)
	policytest.Must(t, err)
	t.Cleanup(got.Release)
	return got
}

func TestTheVerdictOfSeveralPolicies(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policies []string
		fallback api.Answer
		want     api.Verdict
	}{
		"deny is before hold and allow": {
			[]string{"allow", "hold Later wait", "deny ImageNotAllowed image img is not allowed", "allow"},
			api.Allow,
			api.Verdict{Answer: api.Deny, Policy: "p2", Reason: "ImageNotAllowed", Message: `policy "p2": image img is not allowed`},
		},
		"hold is before allow": {
			[]string{"allow", "abstain", "hold Later wait"},
			api.Allow,
			api.Verdict{Answer: api.Hold, Policy: "p2", Reason: "Later", Message: `policy "p2": wait`},
		},
		"of equal answers the first decides": {
			[]string{"allow", "deny One one\npriority = 200", "deny Two two"},
			api.Allow,
			api.Verdict{Answer: api.Deny, Policy: "p2", Reason: "Two", Message: `policy "p2": two`},
		},
		"an allow has neither reason nor message": {
			[]string{"abstain", "allow Nice it is nice", "allow"},
			api.Deny,
			api.Verdict{Answer: api.Allow, Policy: "p1"},
		},
		"none has an opinion, the default is to allow": {
			[]string{"abstain"},
			api.Allow,
			api.Verdict{Answer: api.Allow},
		},
		"none has an opinion, the default is to hold": {
			[]string{"abstain", "abstain"},
			api.Hold,
			api.Verdict{Answer: api.Hold, Reason: "DefaultVerdict", Message: "no policy has an opinion, and policy.default_verdict is hold"},
		},
		"nobody is asked, the default is to deny": {
			[]string{"allow\nmode = \"off\"", "allow\n[match]\nnamespaces = [\"other\"]"},
			api.Deny,
			api.Verdict{Answer: api.Deny, Reason: "DefaultVerdict", Message: "no policy has an opinion, and policy.default_verdict is deny"},
		},
		"a denial without a code and a message": {
			[]string{"deny"},
			api.Allow,
			api.Verdict{Answer: api.Deny, Policy: "p0", Reason: "PolicyDenied", Message: `policy "p0" gives no message`},
		},
		"a hold without a code": {
			[]string{"hold  it is too early"},
			api.Allow,
			api.Verdict{Answer: api.Hold, Policy: "p0", Reason: "PolicyHeld", Message: `policy "p0": it is too early`},
		},
		"a failure that holds": {
			[]string{"trap unreachable", "allow"},
			api.Allow,
			api.Verdict{
				Answer: api.Hold, Policy: "p0", Reason: "PolicyFailed",
				Message: `policy "p0": the plugin failed with Trap: unreachable (on_error is hold)`,
			},
		},
		"a failure that denies": {
			[]string{"trap unreachable\non_error = \"deny\"", "hold"},
			api.Allow,
			api.Verdict{
				Answer: api.Deny, Policy: "p0", Reason: "PolicyFailed",
				Message: `policy "p0": the plugin failed with Trap: unreachable (on_error is deny)`,
			},
		},
		"a failure that allows says so": {
			[]string{"trap unreachable\non_error = \"allow\""},
			api.Deny,
			api.Verdict{
				Answer: api.Allow, Policy: "p0", Reason: "PolicyFailed",
				Message: `policy "p0": the plugin failed with Trap: unreachable (on_error is allow)`,
			},
		},
		"an error of the host": {
			[]string{"error no memory"},
			api.Allow,
			api.Verdict{
				Answer: api.Hold, Policy: "p0", Reason: "PolicyFailed",
				Message: `policy "p0": the plugin failed with HostError: no memory (on_error is hold)`,
			},
		},
		"an answer that is none": {
			[]string{"perhaps"},
			api.Allow,
			api.Verdict{
				Answer: api.Hold, Policy: "p0", Reason: "PolicyFailed",
				Message: `policy "p0": the plugin failed with BadOutput: "perhaps" is no answer (on_error is hold)`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loaded := loadScripts(t, policytest.NewScripts(), test.policies...)
			got := Judge(t.Context(), []*Set{loaded}, deciding(policytest.Question("web")), test.fallback)
			test.want.At, test.want.Sets = policytest.Instant, []string{loaded.Digest}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(api.Verdict{}, "Opinions")); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryPolicyThatMatchesIsAskedInOrder(t *testing.T) {
	t.Parallel()
	s := policytest.NewScripts()
	loaded := loadScripts(t, s,
		"allow\npriority = 300", "deny No no\npriority = 1", "hold", "trap x\non_error = \"allow\"", "deny\nmode = \"off\"",
		"deny\n[match]\nsources = [\"api\"]", "abstain\npriority = 200")
	Judge(t.Context(), []*Set{loaded}, deciding(policytest.Question("web")), api.Allow)
	if diff := cmp.Diff([]string{"p1 web", "p2 web", "p3 web", "p6 web", "p0 web"}, s.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

func TestAVerdictHasTheOpinionsOfAllThatWereAsked(t *testing.T) {
	t.Parallel()
	s := policytest.NewScripts()
	s.Edit = func(policy string, r *wasm.Result) {
		if policy == "p0" {
			r.Warnings, r.Annotations, r.Explanation = []string{"soon"}, map[string]string{"a": "b"}, "because"
		}
	}
	loaded := loadScripts(t, s, "allow Fine it is fine", "trap x", "abstain", "allow\nmode = \"off\"")
	v := Judge(t.Context(), []*Set{loaded}, deciding(policytest.Question("web")), api.Allow)
	want := []api.Opinion{
		{
			Policy: "p0", Answer: api.Allow, Reason: "Fine", Message: "it is fine",
			Warnings: []string{"soon"}, Annotations: map[string]string{"a": "b"}, Explanation: "because",
		},
		{Policy: "p1", Answer: api.Hold, Failure: "Trap", Reason: "PolicyFailed", Message: "the plugin failed with Trap: x"},
		{Policy: "p2", Answer: api.Abstain},
	}
	if diff := cmp.Diff(want, v.Opinions); diff != "" {
		t.Errorf("opinions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"p0: soon"}, v.Warnings()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestTheTimeToLookAgainIsThatOfTheDecidingHold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers map[string]wasm.Result
		want    time.Duration
	}{
		"none":                  {map[string]wasm.Result{"p0": {Answer: api.Hold}}, 0},
		"as it says":            {map[string]wasm.Result{"p0": {Answer: api.Hold, RetryAfter: 90 * time.Second}}, 90 * time.Second},
		"at least a second":     {map[string]wasm.Result{"p0": {Answer: api.Hold, RetryAfter: time.Millisecond}}, time.Second},
		"not in the past":       {map[string]wasm.Result{"p0": {Answer: api.Hold, RetryAfter: -time.Hour}}, time.Second},
		"at most ten minutes":   {map[string]wasm.Result{"p0": {Answer: api.Hold, RetryAfter: time.Hour}}, 10 * time.Minute},
		"not that of a denial":  {map[string]wasm.Result{"p0": {Answer: api.Deny, RetryAfter: time.Minute}}, 0},
		"not that of an allow":  {map[string]wasm.Result{"p0": {Answer: api.Allow, RetryAfter: time.Minute}}, 0},
		"of the first of two":   {map[string]wasm.Result{"p0": {Answer: api.Hold, RetryAfter: time.Minute}, "p1": {Answer: api.Hold, RetryAfter: time.Second}}, time.Minute},
		"not that of one later": {map[string]wasm.Result{"p0": {Answer: api.Hold}, "p1": {Answer: api.Hold, RetryAfter: time.Second}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := policytest.NewScripts()
			s.Edit = func(policy string, r *wasm.Result) { *r = test.answers[policy] }
			var texts []string
			for range test.answers {
				texts = append(texts, "allow")
			}
			loaded := loadScripts(t, s, texts...)
			if got := Judge(t.Context(), []*Set{loaded}, deciding(policytest.Question("web")), api.Allow).RetryAfter; got != test.want {
				t.Errorf("after %s, want %s", got, test.want)
			}
		})
	}
}

func TestADecisionThatIsCutOffAsksNobodyElseAndCountsNowhere(t *testing.T) {
	t.Parallel()
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, "allow", "allow")
	ctx, cancel := context.WithCancel(t.Context())
	s.Edit = func(string, *wasm.Result) { cancel() }
	Judge(ctx, []*Set{loaded}, deciding(policytest.Question("web")), api.Allow)
	if calls := s.Calls(); len(calls) != 1 {
		t.Errorf("calls %v, want one", calls)
	}
	if n := loaded.Policies[0].Counters.allowed.Load(); n != 0 {
		t.Errorf("%d are counted", n)
	}
}

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
	for _, loaded := range []*Set{first, first, second, second, first} {
		Judge(t.Context(), []*Set{loaded}, deciding(policytest.Question("web")), api.Allow)
	}
	want := []string{}
	for _, what := range []string{"one", "two", "one"} {
		want = append(want, `level=WARN msg="a plugin failed, on_error decides" policy=p failure="the plugin failed with Trap: `+what+`" on_error=hold`)
	}
	if diff := cmp.Diff(want, l.Lines()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if n := second.Policies[0].Counters.failed.Load(); n != 5 {
		t.Errorf("%d failures are counted, want 5", n)
	}
}
