package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestOpinionsOfOtherModesDoNotCount(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{spec.ModeWarn, spec.ModeAudit} {
		for script, answer := range map[string]api.Answer{"deny No not here": api.Deny, "hold": api.Hold, "trap x": api.Hold, "allow": api.Allow} {
			t.Run(mode+" "+script, func(t *testing.T) {
				t.Parallel()
				loaded := loadScripts(t, policytest.NewScripts(), script+"\nmode = \""+mode+"\"", "abstain")
				v := judge(t.Context(), []*set{loaded}, deciding(policytest.Question("web")), api.Allow)
				o := v.Opinions[0]
				if v.Answer != api.Allow || v.Policy != "" || o.Mode != mode || o.Answer != answer {
					t.Errorf("verdict %+v", v)
				}
				warned := strings.Join(v.Warnings(), "; ")
				if want := mode == spec.ModeWarn && answer != api.Allow; want != (warned != "") {
					t.Errorf("warnings %q", warned)
				}
			})
		}
	}
}

// failing loads a policy that answers once by its script and fails from then
// on, with further lines in its document, and gives what it says then.
func failing(t *testing.T, script, lines string, d *decision) (first, then api.Verdict) {
	t.Helper()
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, script+"\n"+lines)
	s.Edit = func(_ string, r *wasm.Result) {
		if len(s.Log) > 1 {
			r.Answer = "perhaps"
		}
	}
	first = judge(t.Context(), []*set{loaded}, d, api.Allow)
	return first, judge(t.Context(), []*set{loaded}, d, api.Allow)
}

func TestLastVerdictStandsInForAPluginThatFails(t *testing.T) {
	t.Parallel()
	const lines = `on_error = "last_verdict"`
	for script, want := range map[string]api.Answer{"allow": api.Allow, "deny No not here": api.Deny, "hold": api.Hold, "abstain": api.Allow} {
		d := deciding(policytest.Question("web"))
		d.instance, d.lasts = "i", &lasts{}
		first, then := failing(t, script, lines, d)
		if first.Answer != want || then.Answer != want {
			t.Errorf("%s: %s, and after a failure %s", script, first.Answer, then.Answer)
		}
		if o := then.Opinions[0]; o.Failure != string(wasm.BadOutput) || !strings.Contains(o.Message, "before that it said") {
			t.Errorf("%s: opinion %+v", script, o)
		}
	}
}

func TestWithoutALastVerdictOnTheInstanceThePodIsHeld(t *testing.T) {
	t.Parallel()
	const lines = `on_error = "last_verdict"`
	for name, change := range map[string]func(*decision){
		"the instance is not known": func(d *decision) { d.instance = "" },
		"nobody keeps verdicts":     func(d *decision) { d.lasts = nil },
	} {
		d := deciding(policytest.Question("web"))
		d.instance, d.lasts = "i", &lasts{}
		change(d)
		if _, then := failing(t, "allow", lines, d); then.Answer != api.Hold || !strings.Contains(then.Message, "it has not judged this version of the pod before") {
			t.Errorf("%s: verdict %+v", name, then)
		}
	}
	known := &lasts{}
	d := deciding(policytest.Question("web"))
	d.instance, d.lasts = "i", known
	failing(t, "allow", lines, d)
	other := deciding(policytest.Question("web"))
	other.instance, other.lasts = "j", known
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, "trap x\n"+lines)
	if v := judge(t.Context(), []*set{loaded}, other, api.Allow); v.Answer != api.Hold {
		t.Errorf("another instance: %+v", v)
	}
	if v := judge(t.Context(), []*set{loaded}, d, api.Allow); v.Answer != api.Allow {
		t.Errorf("the same instance, by the policy of that name: %+v", v)
	}
}

func TestAFailureLetsAnExemptPodPass(t *testing.T) {
	t.Parallel()
	for _, onError := range []string{"hold", "deny", "last_verdict"} {
		d := deciding(policytest.Question("web"))
		d.exempt = true
		if _, then := failing(t, "allow", "on_error = \""+onError+"\"", d); then.Answer != api.Allow {
			t.Errorf("on_error %s: %+v", onError, then)
		}
	}
	d := deciding(policytest.Question("web"))
	d.exempt = true
	loaded := loadScripts(t, policytest.NewScripts(), "deny")
	if v := judge(t.Context(), []*set{loaded}, d, api.Allow); v.Answer != api.Deny {
		t.Errorf("a policy that does not fail: %+v", v)
	}
}

func TestOnlyPodsOfFilesAreExempt(t *testing.T) {
	t.Parallel()
	c := Config{Node: "edge", Exempt: []string{"shop/web"}, Kinds: map[string]string{"static": "file", "cluster": "api"}, Now: time.Now}
	p := New(c)
	for name, test := range map[string]struct {
		change func(*api.Question)
		want   bool
	}{
		"named":                 {func(*api.Question) {}, true},
		"named as its manifest": {func(q *api.Question) { q.Pod.Name = "web-edge" }, true},
		"not named":             {func(q *api.Question) { q.Pod.Name = "other" }, false},
		"in another namespace":  {func(q *api.Question) { q.Pod.Namespace = "other" }, false},
		"of the API server":     {func(q *api.Question) { q.Origin.Source = "cluster" }, false},
	} {
		q := policytest.Question("web", test.change)
		q.Pod.Annotations[pod.AnnotationSource] = "file"
		if got := p.exempt(&q, c.names(&q)); got != test.want {
			t.Errorf("%s: exempt %t", name, got)
		}
	}
}

func TestAnExemptPodPassesWhereNoSetIsReadyAndThatIsLogged(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		d.Write("broken.toml", "api = 1")
		p, l := listed(t, d, s, func(c *Config) { c.Exempt = []string{"shop/dns"} })
		run(t, p)
		for name, want := range map[string]api.Answer{"dns": api.Allow, "web": api.Hold} {
			if got := ask(t, p, policytest.Question(name)); got.Answer != want || got.Reason != api.ReasonPoliciesNotReady {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if l.Count("exempt and passes") != 1 {
			t.Errorf("logged: %q", l.Lines())
		}
	})
}

func TestAPluginWithoutAnInstanceIsAskedAgainWhateverOnErrorSays(t *testing.T) {
	t.Parallel()
	for _, onError := range []string{"allow", "deny", "last_verdict"} {
		loaded := loadScripts(t, policytest.NewScripts(), "unready\non_error = \""+onError+"\"")
		for range breakAfter + 1 {
			v := judge(t.Context(), []*set{loaded}, deciding(policytest.Question("web")), api.Allow)
			if v.Answer != api.Hold || v.RetryAfter != time.Second || v.Opinions[0].Failure != string(wasm.NotReady) {
				t.Errorf("on_error %s: %+v", onError, v)
			}
		}
	}
}
