package eval

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestABreakerIsNotOpenForLongerBecauseTheClockWentBack(t *testing.T) {
	t.Parallel()
	var b breakers
	for range BreakAfter {
		b.note("a", asksFor(1), "Trap", policytest.Instant)
	}
	if refuses(t, &b, "a", 1, policytest.Instant.AddDate(-10, 0, 0)) {
		t.Error("it is open for ten years")
	}
}

func TestABreakerOpensAfterFailuresInARowAndTriesAgain(t *testing.T) {
	t.Parallel()
	var b breakers
	now := policytest.Instant
	open := func() bool { return refuses(t, &b, "a", 1, now) }
	for range BreakAfter {
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
	now = now.Add(BreakDelays.Max)
	if open() {
		t.Fatal("it is not tried again")
	}
	b.note("a", asksFor(1), "", now)
	if open() {
		t.Error("it is open after a call that went well")
	}
}

// asksFor returns a function that returns the ID of question n.
func asksFor(n int) func() QuestionID {
	return func() QuestionID { return QuestionID(sha256.Sum256([]byte{byte(n), byte(n >> 8)})) }
}

// refuses reports whether the breaker refuses question n, which failed before.
func refuses(t *testing.T, b *breakers, tenant string, n int, now time.Time) bool {
	t.Helper()
	wait, err := b.open(tenant, asksFor(n), MaxTurn, now)
	if wait != 0 {
		t.Errorf("it waits for %s", wait)
	}
	return err != nil
}

func TestBreaker_halfOpensForOneThatFailedBesideTheTurnsOfOthers(t *testing.T) {
	t.Parallel()
	var b breakers
	now := policytest.Instant
	for i := range BreakAfter {
		b.note("", asksFor(i), "Trap", now)
	}
	if wait, err := b.open("", asksFor(100), MaxTurn, now); wait != 0 || err != nil {
		t.Fatalf("the first that has not failed: %s, %v", wait, err)
	}
	b.note("", asksFor(100), "Trap", now)
	if wait, err := b.open("", asksFor(101), MaxTurn, now); wait != TurnTime || err != nil {
		t.Fatalf("the second waits for %s, %v", wait, err)
	}
	now = now.Add(BreakDelays.Min)
	if refuses(t, &b, "", 0, now) || !refuses(t, &b, "", 1, now) {
		t.Error("of those that failed not one is tried")
	}
	// The retry of a failed question uses up no other question's turn.
	if wait, err := b.open("", asksFor(101), MaxTurn, now); wait != 0 || err != nil {
		t.Errorf("its turn has come: %s, %v", wait, err)
	}
}

func TestBreaker_isBounded(t *testing.T) {
	t.Parallel()
	var b breakers
	for i := range 2 * maxFailing {
		now := policytest.Instant.Add(time.Duration(i) * time.Second)
		b.note("", asksFor(i), "Trap", now)
		_, _ = b.open("", asksFor(10_000+2*i), MaxTurn, now)
		_, _ = b.open("", asksFor(10_001+2*i), MaxTurn, now)
	}
	if one := b.of[""]; len(one.failing) != maxFailing || len(one.turns) > 2*int(MaxTurn/TurnTime)+1 {
		t.Errorf("it knows %d that failed, %d that wait", len(one.failing), len(one.turns))
	}
	if _, newest := b.of[""].failing[asksFor(2*maxFailing-1)()]; !newest {
		t.Error("the newest is forgotten")
	}
}

func TestBreaker_turns(t *testing.T) {
	t.Parallel()
	const most = int(MaxTurn / TurnTime)
	var b breakers
	for i := range BreakAfter {
		b.note("", asksFor(i), "Trap", policytest.Instant)
	}
	turn := func(n int, patience time.Duration, now time.Time) string {
		wait, err := b.open("", asksFor(n), patience, now)
		code := ""
		if err != nil {
			code, _, _ = FailureOf(err)
		}
		return strings.TrimSpace(wait.String() + " " + code)
	}
	for i := range most + 1 {
		if got, want := turn(100+i, MaxTurn, policytest.Instant), (time.Duration(i) * TurnTime).String(); got != want {
			t.Errorf("turn %d: %s, want %s", i, got, want)
		}
	}
	for _, step := range []struct {
		name            string
		n               int
		patience, after time.Duration
		want            string
	}{
		{"that of one that comes again", 110, MaxTurn, 0, "10s"},
		{"the same, later", 110, MaxTurn, 4 * time.Second, "6s"},
		{"one too many", 900, MaxTurn, 0, "0s BreakerWaits"},
		{"one too many that has all the time", 900, 24 * time.Hour, 0, "1m1s"},
		{"one that cannot wait", 901, 0, 0, "0s BreakerWaits"},
		{"one that cannot wait, when nobody has a turn", 903, 0, 2 * MaxTurn, "0s"},
		{"one more at that time", 904, 0, 2 * MaxTurn, "0s BreakerWaits"},
		{"the clock went back ten years", 905, MaxTurn, -10 * 365 * 24 * time.Hour, "0s"},
		{"the next one then", 906, MaxTurn, -10 * 365 * 24 * time.Hour, "1s"},
	} {
		if got := turn(step.n, step.patience, policytest.Instant.Add(step.after)); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
}

func TestBreaker_whileOneIsTriedTheOthersComeBackSoon(t *testing.T) {
	t.Parallel()
	var b breakers
	for i := range BreakAfter {
		b.note("", asksFor(i), "Trap", policytest.Instant)
	}
	now := policytest.Instant.Add(BreakDelays.Min)
	if refuses(t, &b, "", 0, now) {
		t.Fatal("none is tried")
	}
	if !refuses(t, &b, "", 1, now) || b.left("", asksFor(1), now) != minRetryAfter {
		t.Errorf("comes back in %s", b.left("", asksFor(1), now))
	}
	b.ended(t.Context(), "", asksFor(0), "NotReady", now)
	if refuses(t, &b, "", 1, now) {
		t.Error("no other is tried, as one was not")
	}
	b.note("", asksFor(1), "", now)
	if b.left("", asksFor(2), now) != 0 || refuses(t, &b, "", 2, now) {
		t.Error("it is open after a call that did not fail")
	}
}
