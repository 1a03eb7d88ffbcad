package policy

import (
	"fmt"
	"testing"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

// counted returns what `get policies` shows of the first policy.
func counted(p *Engine) string {
	s := p.Sets()[0].Policies[0]
	return fmt.Sprintf("allowed %d denied %d held %d abstained %d failed %d", s.Allowed, s.Denied, s.Held, s.Abstained, s.Failed)
}

func TestWhatAFilterSaysOfUpdatesIsCounted(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"pass":    "allowed 2 denied 0 held 0 abstained 0 failed 0",
		"defer":   "allowed 0 denied 0 held 2 abstained 0 failed 0",
		"drop":    "allowed 0 denied 0 held 2 abstained 0 failed 0",
		"abstain": "allowed 0 denied 0 held 0 abstained 2 failed 0",
		"trap x":  "allowed 2 denied 0 held 0 abstained 0 failed 2",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Hooked("f", api.HookFilter, script)
				p, _ := listed(t, d, s, patient)
				run(t, p)
				for range 2 {
					filterBy(t, p, filterQuestion("shop"))
				}
				if got := counted(p); got != want {
					t.Errorf("counted %s, want %s", got, want)
				}
			})
		})
	}
}

func TestWhatAMergePolicySaysOfConflictsIsCounted(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"winner 1": "allowed 2 denied 0 held 0 abstained 0 failed 0",
		"keep":     "allowed 0 denied 0 held 2 abstained 0 failed 0",
		"reject":   "allowed 0 denied 2 held 0 abstained 0 failed 0",
		"abstain":  "allowed 0 denied 0 held 0 abstained 2 failed 0",
		"trap x":   "allowed 0 denied 0 held 2 abstained 0 failed 2",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				d.Hooked("m", api.HookMerge, script)
				p, _ := listed(t, d, s, ranked)
				run(t, p)
				for range 2 {
					resolve(t, p, contestOf("shop", "fleet"))
				}
				if got := counted(p); got != want {
					t.Errorf("counted %s, want %s", got, want)
				}
			})
		})
	}
}
