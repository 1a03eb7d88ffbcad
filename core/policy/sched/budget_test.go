package sched

import (
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestABudgetFillsUpToTenSeconds(t *testing.T) {
	t.Parallel()
	b := NewBudgets(map[string]int64{"a": 100, "b": 0}, policytest.Instant)
	at := func(seconds float64) time.Time {
		return policytest.Instant.Add(time.Duration(seconds * float64(time.Second)))
	}
	for _, step := range []struct {
		what  string
		at    float64
		spend int64
		wait  time.Duration
	}{
		{"full", 0, 0, 0},
		{"all but one unit is spent", 0, 999, 0},
		{"all is spent", 0, 1, 11 * time.Millisecond},
		{"a unit has come in", 0.011, 0, 0},
		{"much more was spent than there was", 0.011, 301, 3011 * time.Millisecond},
		{"half of it has come in", 1.511, 0, 1511 * time.Millisecond},
		{"a clock that goes back", -1000, 0, 1511 * time.Millisecond},
		{"and goes on from there", -997, 0, 0},
		{"after a year it is full and no more", 1e7, 1000, 11 * time.Millisecond},
	} {
		b.Spend("a", step.spend, at(step.at))
		if got := b.Wait("a", at(step.at)); got != step.wait {
			t.Errorf("%s: wait %s, want %s", step.what, got, step.wait)
		}
	}
	b.Spend("b", 1<<40, policytest.Instant)
	b.Spend("", 1<<40, policytest.Instant)
	if b.Wait("b", policytest.Instant) != 0 || b.Wait("", policytest.Instant) != 0 {
		t.Error("who has no budget waits")
	}
}

func TestWhatComesIntoASpentBudgetGoesToPodsThatRunInTurn(t *testing.T) {
	t.Parallel()
	var turns budgetTurns
	for _, step := range []struct {
		what   string
		review bool
		lacks  time.Duration
		wait   time.Duration
	}{
		{"there is something for anybody", false, 0, 0},
		{"and for a pod that runs", true, 0, 0},
		{"all is spent", false, 3 * time.Second, 3 * time.Second},
		{"after a pod that runs others come first", true, 3 * time.Second, 3*time.Second + turnPause},
		{"one of them does", false, 0, 0},
		{"now it is the turn of a pod that runs", true, 3 * time.Second, 3 * time.Second},
		{"so others wait, though there is something", false, 0, turnPause},
		{"as often as they ask", false, 0, turnPause},
		{"it has its turn", true, 0, 0},
		{"and others have theirs", false, 0, 0},
		{"it looks again before long, for the rates may change", true, time.Hour, MaxPutOff},
		{"and has its turn then", true, 0, 0},
		{"where nobody else comes it has the next, too", true, time.Second, time.Second + turnPause},
		{"after a pause", true, 0, 0},
	} {
		ask := turns.others
		if step.review {
			ask = turns.review
		}
		if got := ask(step.lacks); got != step.wait {
			t.Errorf("%s: wait %s, want %s", step.what, got, step.wait)
		}
	}
}

func TestABudgetKeepsWhatIsLeftUnderAnotherRate(t *testing.T) {
	t.Parallel()
	b := NewBudgets(map[string]int64{"a": 100}, policytest.Instant)
	b.Spend("a", 1000+300, policytest.Instant)
	b.Set(map[string]int64{"a": 300, "b": 10, "c": 0}, policytest.Instant.Add(time.Second))
	if got := b.LeftOf("a"); got != -200 {
		t.Errorf("left %d, want what was spent and one second at the rate before", got)
	}
	if got := b.Wait("a", policytest.Instant.Add(2*time.Second)); got != 0 {
		t.Errorf("wait %s at the new rate", got)
	}
	b.Set(map[string]int64{"a": 1, "b": 0}, policytest.Instant.Add(time.Hour))
	if a := b.of["a"]; a.left != 10 || b.of["b"] != nil || b.of["c"] != nil {
		t.Errorf("budgets %+v", b.of)
	}
}
