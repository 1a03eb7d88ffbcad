package policy

import (
	"testing"

	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func TestASetThatFailedOnItsProbationSaysSo(t *testing.T) {
	t.Parallel()
	bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
		t := d.T
		n := newRunning(somePods(50)...)
		d.Policy("bad", "trap boom", onChangeReports)
		d.Policy("deny", "deny", onChangeEvicts)
		p := reviewing(t, d, s, n, evictionsIn(newCounts()))
		run(t, p)
		settled()
		const want = `for a set that does not fail: this one has, on its probation; mend it, or try it again with "wardlet policy retry"`
		review := func() string { return p.Sets()[0].Policies[1].Review.Waits }
		if got := review(); got != want || len(n.gone()) > 0 {
			t.Errorf("waits %q, want %q; evicted %v", got, want, n.gone())
		}
		set, err := p.Confirm(t.Context(), "", "deny", "")
		if err != nil || set.Policies[1].Review.Waits != want {
			t.Errorf("confirmed: %+v, %v", set.Policies[1].Review, err)
		}
		if set, err = p.Retry(t.Context(), ""); err != nil || set.Probation == nil || set.Probation.Decisions > 0 || set.Probation.Failing != "" {
			t.Errorf("tried again: probation %+v, %v", set.Probation, err)
		}
	})
}

func TestAFaultOfTheHostIsNoneOfTheSet(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"the host fails for a while": "unwell", "it always does, so that the breaker opens": "error no memory"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				n := newRunning(somePods(50)...)
				d.Policy("a", script, onChangeReports)
				d.Policy("deny", "deny", onChangeEvicts)
				p := reviewing(t, d, s, n, evictionsIn(newCounts()))
				run(t, p)
				settled()
				if set := p.Sets()[0]; len(n.gone()) != 5 || set.Probation != nil {
					t.Errorf("evicted %v, probation %+v, review %+v", n.gone(), set.Probation, set.Policies[1].Review)
				}
			})
		})
	}
}
