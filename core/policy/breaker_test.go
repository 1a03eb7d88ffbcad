package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/eval"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestAPluginThatFailsOnATenantsPodsIsNotAskedAboutThem(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Policy("node", "allow", "on_error = \"deny\"")
		s.Edit = func(_ string, r *wasm.Result) {
			if strings.HasPrefix(s.Requests["node"].Question.Pod.Namespace, "a") {
				r.Answer = "perhaps"
			}
		}
		p, _ := listed(t, d, s, tenanted(d, "a"), func(c *Config) { c.Tenants[0].Dir = "" })
		run(t, p)
		for range eval.BreakAfter + 3 {
			if got := ask(t, p, policytest.Question("web", in("a"))); got.Answer != api.Deny || got.Reason != api.ReasonPolicyFailed {
				t.Errorf("verdict %+v", got)
			}
		}
		if asked := len(s.Calls()); asked != eval.BreakAfter {
			t.Errorf("asked %d times", asked)
		}
		got := ask(t, p, policytest.Question("web", in("a")))
		if o := got.Opinions[0]; o.Failure != "BreakerOpen" || !strings.Contains(o.Message, "it failed 5 times in a row") {
			t.Errorf("verdict %+v", got)
		}
		if got := ask(t, p, policytest.Question("web", in("shop"))); got.Answer != api.Allow {
			t.Errorf("another's pod: %+v", got)
		}
		time.Sleep(eval.BreakDelays.Min)
		ask(t, p, policytest.Question("web", in("a")))
		if asked := len(s.Calls()); asked != eval.BreakAfter+2 {
			t.Errorf("asked %d times after a while", asked)
		}
		d.Policy("node", "allow # mended")
		<-p.Changed()
		ask(t, p, policytest.Question("web", in("a")))
		if asked := len(s.Calls()); asked != eval.BreakAfter+3 {
			t.Errorf("asked %d times: another plugin begins anew", asked)
		}
	})
}
