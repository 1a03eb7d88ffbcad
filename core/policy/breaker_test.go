package policy

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/wasm"
)

// asksFor identifies a question by a number.
func asksFor(n int) func() questionID {
	return func() questionID { return questionID(sha256.Sum256([]byte{byte(n), byte(n >> 8)})) }
}

// refuses reports whether a question that failed before is not asked.
func refuses(t *testing.T, b *breakers, tenant string, n int, now time.Time) bool {
	t.Helper()
	wait, err := b.open(tenant, asksFor(n), maxTurn, now)
	if wait != 0 {
		t.Errorf("it waits for %s", wait)
	}
	return err != nil
}

func TestABreakerOpensAfterFailuresInARowAndTriesAgain(t *testing.T) {
	t.Parallel()
	var b breakers
	now := policytest.Instant
	open := func() bool { return refuses(t, &b, "a", 1, now) }
	for range breakAfter {
		if open() {
			t.Fatal("it is open too early")
		}
		b.note("a", asksFor(1), "Trap", now)
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
		b.note("a", asksFor(1), "Trap", now)
	}
	if refuses(t, &b, "b", 1, now) || refuses(t, &b, "", 1, now) {
		t.Error("it is open for others")
	}
	now = now.Add(breakDelays.Max)
	if open() {
		t.Fatal("it is not tried again")
	}
	b.note("a", asksFor(1), "", now)
	if open() {
		t.Error("it is open after a call that went well")
	}
}

func TestABreakerIsNotOpenForLongerBecauseTheClockWentBack(t *testing.T) {
	t.Parallel()
	var b breakers
	for range breakAfter {
		b.note("a", asksFor(1), "Trap", policytest.Instant)
	}
	if refuses(t, &b, "a", 1, policytest.Instant.AddDate(-10, 0, 0)) {
		t.Error("it is open for ten years")
	}
}

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
		for range breakAfter + 3 {
			if got := ask(t, p, policytest.Question("web", in("a"))); got.Answer != api.Deny || got.Reason != api.ReasonPolicyFailed {
				t.Errorf("verdict %+v", got)
			}
		}
		if asked := len(s.Calls()); asked != breakAfter {
			t.Errorf("asked %d times", asked)
		}
		got := ask(t, p, policytest.Question("web", in("a")))
		if o := got.Opinions[0]; o.Failure != "BreakerOpen" || !strings.Contains(o.Message, "it failed 5 times in a row") {
			t.Errorf("verdict %+v", got)
		}
		if got := ask(t, p, policytest.Question("web", in("shop"))); got.Answer != api.Allow {
			t.Errorf("another's pod: %+v", got)
		}
		time.Sleep(breakDelays.Min)
		ask(t, p, policytest.Question("web", in("a")))
		if asked := len(s.Calls()); asked != breakAfter+2 {
			t.Errorf("asked %d times after a while", asked)
		}
		d.Policy("node", "allow # mended")
		<-p.Changed()
		ask(t, p, policytest.Question("web", in("a")))
		if asked := len(s.Calls()); asked != breakAfter+3 {
			t.Errorf("asked %d times: another plugin begins anew", asked)
		}
	})
}
