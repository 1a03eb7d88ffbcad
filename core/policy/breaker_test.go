package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

func TestABreakerOpensAfterFailuresInARowAndTriesAgain(t *testing.T) {
	t.Parallel()
	var b breakers
	now := instant
	open := func() bool { return b.open("a", now) != nil }
	for range breakAfter {
		if open() {
			t.Fatal("it is open too early")
		}
		b.note("a", "Trap", now)
	}
	for _, pause := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute, 5 * time.Minute} {
		now = now.Add(pause - time.Second)
		if !open() {
			t.Fatalf("it is closed before %s", pause)
		}
		now = now.Add(time.Second)
		if open() {
			t.Fatalf("it is open after %s", pause)
		}
		if !open() {
			t.Fatal("a second question is let through beside the one that tries")
		}
		b.note("a", "Trap", now)
	}
	if b.open("b", now) != nil || b.open("", now) != nil {
		t.Error("it is open for others")
	}
	now = now.Add(maxBreak)
	if open() {
		t.Fatal("it is not tried again")
	}
	b.note("a", "", now)
	if open() {
		t.Error("it is open after a call that went well")
	}
}

func TestABreakerIsNotOpenForLongerBecauseTheClockWentBack(t *testing.T) {
	t.Parallel()
	var b breakers
	for range breakAfter {
		b.note("a", "Trap", instant)
	}
	if b.open("a", instant.AddDate(-10, 0, 0)) != nil {
		t.Error("it is open for ten years")
	}
}

func TestAPluginThatFailsOnATenantsPodsIsNotAskedAboutThem(t *testing.T) {
	t.Parallel()
	bubble(t, func(d tree, s *scripts) {
		t := d.t
		d.policy("node", "allow", "on_error = \"deny\"")
		s.edit = func(_ string, r *wasm.Result) {
			if strings.HasPrefix(s.requests["node"].Question.Pod.Namespace, "a") {
				r.Answer = "perhaps"
			}
		}
		p, _ := listed(t, d, s, tenanted(d, "a"), func(c *Config) { c.Tenants[0].Dir = "" })
		run(t, p)
		for range breakAfter + 3 {
			if got := ask(t, p, question("web", in("a"))); got.Answer != pod.Deny || got.Reason != pod.ReasonPolicyFailed {
				t.Errorf("verdict %+v", got)
			}
		}
		if asked := len(s.called()); asked != breakAfter {
			t.Errorf("asked %d times", asked)
		}
		got := ask(t, p, question("web", in("a")))
		if o := got.Opinions[0]; o.Failure != "BreakerOpen" || !strings.Contains(o.Message, "it failed 5 times in a row") {
			t.Errorf("verdict %+v", got)
		}
		if got := ask(t, p, question("web", in("shop"))); got.Answer != pod.Allow {
			t.Errorf("another's pod: %+v", got)
		}
		time.Sleep(minBreak)
		ask(t, p, question("web", in("a")))
		if asked := len(s.called()); asked != breakAfter+2 {
			t.Errorf("asked %d times after a while", asked)
		}
		d.policy("node", "allow # mended")
		<-p.Changed()
		ask(t, p, question("web", in("a")))
		if asked := len(s.called()); asked != breakAfter+3 {
			t.Errorf("asked %d times: another plugin begins anew", asked)
		}
	})
}
