package compile

import (
	"errors"
	"testing"
	"time"
)

func TestATenantsCompilationsHaveTheirShareOfAnHour(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now := begin
	b := budgets{perHour: map[string]time.Duration{"a": time.Minute}, now: func() time.Time { return now }}
	for _, step := range []struct {
		what  string
		at    time.Duration
		spend time.Duration
		may   bool
	}{
		{"full", 0, 0, true},
		{"nearly spent", 0, 59 * time.Second, true},
		{"one takes more than was left", 0, 31 * time.Second, false},
		{"a minute brings a second", 29 * time.Minute, 0, false},
		{"half an hour brings half of it", 31 * time.Minute, 0, true},
		{"a clock that goes back brings nothing", -time.Hour, time.Second, false},
		{"and goes on from there", 10 * time.Minute, 0, true},
		{"after a year it is full and no more", 9000 * time.Hour, time.Minute, false},
	} {
		now = begin.Add(step.at)
		b.spend("a", step.spend)
		err := b.check("a")
		spent, ok := errors.AsType[*Spent](err)
		if (err == nil) != step.may || ok && (spent.Tenant != "a" || spent.PerHour != time.Minute) {
			t.Errorf("%s: %v", step.what, err)
		}
	}
	for _, other := range []string{"", "b"} {
		b.spend(other, time.Hour)
		if err := b.check(other); err != nil {
			t.Errorf("%q, who has no budget: %v", other, err)
		}
	}
}
