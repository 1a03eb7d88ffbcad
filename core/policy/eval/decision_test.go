package eval

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/spec"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

func TestAFailureLetsAnExemptPodPass(t *testing.T) {
	t.Parallel()
	for _, onError := range []string{"hold", "deny", "last_verdict"} {
		d := deciding(policytest.Question("web"))
		d.Exempt = true
		if _, then := failing(t, "allow", "on_error = \""+onError+"\"", d); then.Answer != api.Allow {
			t.Errorf("on_error %s: %+v", onError, then)
		}
	}
	d := deciding(policytest.Question("web"))
	d.Exempt = true
	loaded := loadScripts(t, policytest.NewScripts(), "deny")
	if v := Judge(t.Context(), []*Set{loaded}, d, api.Allow); v.Answer != api.Deny {
		t.Errorf("a policy that does not fail: %+v", v)
	}
}

func TestAPluginWithoutAnInstanceIsAskedAgainWhateverOnErrorSays(t *testing.T) {
	t.Parallel()
	for _, onError := range []string{"allow", "deny", "last_verdict"} {
		loaded := loadScripts(t, policytest.NewScripts(), "unready\non_error = \""+onError+"\"")
		for range BreakAfter + 1 {
			v := Judge(t.Context(), []*Set{loaded}, deciding(policytest.Question("web")), api.Allow)
			if v.Answer != api.Hold || v.RetryAfter != time.Second || v.Opinions[0].Failure != string(abi.NotReady) {
				t.Errorf("on_error %s: %+v", onError, v)
			}
		}
	}
}

func TestLastVerdictStandsInForAPluginThatFails(t *testing.T) {
	t.Parallel()
	const lines = `on_error = "last_verdict"`
	for script, want := range map[string]api.Answer{"allow": api.Allow, "deny No not here": api.Deny, "hold": api.Hold, "abstain": api.Allow} {
		d := deciding(policytest.Question("web"))
		d.Instance, d.Cache = "i", &VerdictCache{}
		first, then := failing(t, script, lines, d)
		if first.Answer != want || then.Answer != want {
			t.Errorf("%s: %s, and after a failure %s", script, first.Answer, then.Answer)
		}
		if o := then.Opinions[0]; o.Failure != string(abi.BadOutput) || !strings.Contains(o.Message, "before that it said") {
			t.Errorf("%s: opinion %+v", script, o)
		}
	}
}

func TestOpinionsOfOtherModesDoNotCount(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{spec.ModeWarn, spec.ModeAudit} {
		for script, answer := range map[string]api.Answer{"deny No not here": api.Deny, "hold": api.Hold, "trap x": api.Hold, "allow": api.Allow} {
			t.Run(mode+" "+script, func(t *testing.T) {
				t.Parallel()
				loaded := loadScripts(t, policytest.NewScripts(), script+"\nmode = \""+mode+"\"", "abstain")
				v := Judge(t.Context(), []*Set{loaded}, deciding(policytest.Question("web")), api.Allow)
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

func TestWithoutALastVerdictOnTheInstanceThePodIsHeld(t *testing.T) {
	t.Parallel()
	const lines = `on_error = "last_verdict"`
	for name, change := range map[string]func(*Decision){
		"the instance is not known": func(d *Decision) { d.Instance = "" },
		"nobody keeps verdicts":     func(d *Decision) { d.Cache = nil },
	} {
		d := deciding(policytest.Question("web"))
		d.Instance, d.Cache = "i", &VerdictCache{}
		change(d)
		if _, then := failing(t, "allow", lines, d); then.Answer != api.Hold || !strings.Contains(then.Message, "it has not judged this version of the pod before") {
			t.Errorf("%s: verdict %+v", name, then)
		}
	}
	known := &VerdictCache{}
	d := deciding(policytest.Question("web"))
	d.Instance, d.Cache = "i", known
	failing(t, "allow", lines, d)
	other := deciding(policytest.Question("web"))
	other.Instance, other.Cache = "j", known
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, "trap x\n"+lines)
	if v := Judge(t.Context(), []*Set{loaded}, other, api.Allow); v.Answer != api.Hold {
		t.Errorf("another instance: %+v", v)
	}
	if v := Judge(t.Context(), []*Set{loaded}, d, api.Allow); v.Answer != api.Allow {
		t.Errorf("the same instance, by the policy of that name: %+v", v)
	}
}

// failing loads a policy whose first call follows its script and whose later calls fail;
// lines are further keys. It returns the verdicts of the first and the second call.
func failing(t *testing.T, script, lines string, d *Decision) (first, then api.Verdict) {
	t.Helper()
	s := policytest.NewScripts()
	loaded := loadScripts(t, s, script+"\n"+lines)
	s.Edit = func(_ string, r *wasm.Result) {
		if len(s.Log) > 1 {
			r.Answer = "perhaps"
		}
	}
	first = Judge(t.Context(), []*Set{loaded}, d, api.Allow)
	return first, Judge(t.Context(), []*Set{loaded}, d, api.Allow)
}

func TestAnExceptionTakesPodsOutOfAPolicyUntilItExpires(t *testing.T) {
	t.Parallel()
	const exception = "deny\n[[exception]]\npods = [%q]\nowner = \"ops@example\"\nreason = \"migration\"\nexpires = %s"
	for name, test := range map[string]struct {
		pods, expires string
		covers        bool
	}{
		"by its name":                                  {"shop/web", `"2026-12-31"`, true},
		"by a pattern":                                 {"*/w*b", `"2026-12-31"`, true},
		"another namespace":                            {"shops/web", `"2026-12-31"`, false},
		"another name":                                 {"shop/we", `"2026-12-31"`, false},
		"on its last day":                              {"shop/web", `"2026-11-03"`, true},
		"after its last day":                           {"shop/web", `"2026-11-02"`, false},
		"a date that is no text":                       {"shop/web", `2026-11-03`, true},
		"a time later that day":                        {"shop/web", `"2026-11-03T12:00:01Z"`, true},
		"the very moment":                              {"shop/web", `"2026-11-03T12:00:00Z"`, false},
		"a time in another zone that is over":          {"shop/web", `"2026-11-03T12:30:00+01:00"`, false},
		"a time that is no text":                       {"shop/web", `2026-11-03T13:30:00+01:00`, true},
		"the name of the manifest of a node's own pod": {"shop/we", `"2026-12-31"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := policytest.NewScripts()
			text := strings.Replace(strings.Replace(exception, "%q", `"`+test.pods+`"`, 1), "%s", test.expires, 1)
			loaded := loadScripts(t, s, text)
			v := Judge(t.Context(), []*Set{loaded}, deciding(policytest.Question("web")), api.Allow)
			if asked := len(s.Calls()) > 0; asked == test.covers {
				t.Errorf("asked %t: %+v", asked, v)
			}
			if !test.covers {
				return
			}
			o := v.Opinions[0]
			if v.Answer != api.Allow || o.Answer != api.Abstain || o.Reason != api.ReasonException ||
				!strings.HasPrefix(o.Message, "not asked: an exception of ops@example until 2") || !strings.HasSuffix(o.Message, ": migration") {
				t.Errorf("verdict %+v", v)
			}
		})
	}
}

// TestAPodsInstanceIsToldOnce is not parallel: it counts allocations.
func TestAPodsInstanceIsToldOnce(t *testing.T) {
	var known InstanceCache
	p := policytest.SomePod("web")
	want, err := pod.Instance(p)
	policytest.Must(t, err)
	for range 2 {
		if got, err := known.Of(p, nil); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if n := len(known.known); n != 1 {
		t.Errorf("%d pods are remembered", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = known.Of(p, nil) }); n > 0 {
		t.Errorf("the second time allocates %v times: it is told again", n)
	}
}

func TestAnotherPodIsAnotherInstance(t *testing.T) {
	t.Parallel()
	var known InstanceCache
	told := map[string]bool{}
	for _, image := range []string{"a", "b"} {
		p := policytest.SomePod("web", func(p *v1.Pod) { p.Spec.Containers[0].Image = image })
		instance, err := known.Of(p, nil)
		policytest.Must(t, err)
		told[instance] = true
	}
	if len(told) != 2 {
		t.Errorf("two pods are %d instances", len(told))
	}
}

func TestRememberedInstancesAreBounded(t *testing.T) {
	t.Parallel()
	var known InstanceCache
	var asking sync.WaitGroup
	for i := range 4 {
		asking.Go(func() {
			for j := range maxInstances / 2 {
				p := policytest.SomePod(fmt.Sprintf("web-%d-%d", i, j))
				want, _ := pod.Instance(p)
				if got, err := known.Of(p, nil); err != nil || got != want {
					t.Errorf("got %q, %v, want %q", got, err, want)
				}
			}
		})
	}
	asking.Wait()
	if n := len(known.known); n == 0 || n > maxInstances {
		t.Errorf("%d pods are remembered, at most %d may be", n, maxInstances)
	}
}
