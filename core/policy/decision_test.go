package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestOpinionsOfOtherModesDoNotCount(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{modeWarn, modeAudit} {
		for script, answer := range map[string]pod.Answer{"deny No not here": pod.Deny, "hold": pod.Hold, "trap x": pod.Hold, "allow": pod.Allow} {
			t.Run(mode+" "+script, func(t *testing.T) {
				t.Parallel()
				loaded := loadScripts(t, newScripts(), script+"\nmode = \""+mode+"\"", "abstain")
				v := judge(t.Context(), []*set{loaded}, deciding(question("web")), pod.Allow)
				o := v.Opinions[0]
				if v.Answer != pod.Allow || v.Policy != "" || o.Mode != mode || o.Answer != answer {
					t.Errorf("verdict %+v", v)
				}
				warned := strings.Join(v.Warnings(), "; ")
				if want := mode == modeWarn && answer != pod.Allow; want != (warned != "") {
					t.Errorf("warnings %q", warned)
				}
			})
		}
	}
}

// failing loads a policy that answers once by its script and fails from then
// on, with further lines in its document, and gives what it says then.
func failing(t *testing.T, script, lines string, d *decision) (first, then pod.Verdict) {
	t.Helper()
	s := newScripts()
	loaded := loadScripts(t, s, script+"\n"+lines)
	s.edit = func(_ string, r *wasm.Result) {
		if len(s.calls) > 1 {
			r.Answer = "perhaps"
		}
	}
	first = judge(t.Context(), []*set{loaded}, d, pod.Allow)
	return first, judge(t.Context(), []*set{loaded}, d, pod.Allow)
}

func TestLastVerdictStandsInForAPluginThatFails(t *testing.T) {
	t.Parallel()
	const lines = `on_error = "last_verdict"`
	for script, want := range map[string]pod.Answer{"allow": pod.Allow, "deny No not here": pod.Deny, "hold": pod.Hold, "abstain": pod.Allow} {
		d := deciding(question("web"))
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
		d := deciding(question("web"))
		d.instance, d.lasts = "i", &lasts{}
		change(d)
		if _, then := failing(t, "allow", lines, d); then.Answer != pod.Hold || !strings.Contains(then.Message, "it has not judged this version of the pod before") {
			t.Errorf("%s: verdict %+v", name, then)
		}
	}
	known := &lasts{}
	d := deciding(question("web"))
	d.instance, d.lasts = "i", known
	failing(t, "allow", lines, d)
	other := deciding(question("web"))
	other.instance, other.lasts = "j", known
	s := newScripts()
	loaded := loadScripts(t, s, "trap x\n"+lines)
	if v := judge(t.Context(), []*set{loaded}, other, pod.Allow); v.Answer != pod.Hold {
		t.Errorf("another instance: %+v", v)
	}
	if v := judge(t.Context(), []*set{loaded}, d, pod.Allow); v.Answer != pod.Allow {
		t.Errorf("the same instance, by the policy of that name: %+v", v)
	}
}

func TestAFailureLetsAnExemptPodPass(t *testing.T) {
	t.Parallel()
	for _, onError := range []string{"hold", "deny", "last_verdict"} {
		d := deciding(question("web"))
		d.exempt = true
		if _, then := failing(t, "allow", "on_error = \""+onError+"\"", d); then.Answer != pod.Allow {
			t.Errorf("on_error %s: %+v", onError, then)
		}
	}
	d := deciding(question("web"))
	d.exempt = true
	loaded := loadScripts(t, newScripts(), "deny")
	if v := judge(t.Context(), []*set{loaded}, d, pod.Allow); v.Answer != pod.Deny {
		t.Errorf("a policy that does not fail: %+v", v)
	}
}

func TestOnlyPodsOfFilesAreExempt(t *testing.T) {
	t.Parallel()
	c := Config{Node: "edge", Exempt: []string{"shop/web"}, Kinds: map[string]string{"static": "file", "cluster": "api"}, Now: time.Now}
	p := New(c)
	for name, test := range map[string]struct {
		change func(*pod.Question)
		want   bool
	}{
		"named":                 {func(*pod.Question) {}, true},
		"named as its manifest": {func(q *pod.Question) { q.Pod.Name = "web-edge" }, true},
		"not named":             {func(q *pod.Question) { q.Pod.Name = "other" }, false},
		"in another namespace":  {func(q *pod.Question) { q.Pod.Namespace = "other" }, false},
		"of the API server":     {func(q *pod.Question) { q.Origin.Source = "cluster" }, false},
	} {
		q := question("web", test.change)
		q.Pod.Annotations[pod.AnnotationSource] = "file"
		if got := p.exempt(&q, c.names(&q)); got != test.want {
			t.Errorf("%s: exempt %t", name, got)
		}
	}
}

func TestAnExemptPodPassesWhereNoSetIsReadyAndThatIsLogged(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.write("broken.toml", "api = 1")
		p, l := listed(t, d, s, func(c *Config) { c.Exempt = []string{"shop/dns"} })
		run(t, p)
		for name, want := range map[string]pod.Answer{"dns": pod.Allow, "web": pod.Hold} {
			if got := ask(t, p, question(name)); got.Answer != want || got.Reason != pod.ReasonPoliciesNotReady {
				t.Errorf("%s: %+v", name, got)
			}
		}
		if l.count("exempt and passes") != 1 {
			t.Errorf("logged: %q", l.lines())
		}
	})
}

func TestAPluginWithoutAnInstanceIsAskedAgainWhateverOnErrorSays(t *testing.T) {
	t.Parallel()
	for _, onError := range []string{"allow", "deny", "last_verdict"} {
		loaded := loadScripts(t, newScripts(), "unready\non_error = \""+onError+"\"")
		for range breakAfter + 1 {
			v := judge(t.Context(), []*set{loaded}, deciding(question("web")), pod.Allow)
			if v.Answer != pod.Hold || v.RetryAfter != time.Second || v.Opinions[0].Failure != string(wasm.NotReady) {
				t.Errorf("on_error %s: %+v", onError, v)
			}
		}
	}
}
