package policy

import (
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

// TestConflictsAreDecidedAnewWhereOtherPoliciesAreInForceThanBeforeARestart checks that
// answers to conflicts survive a restart, and are decided again only if the policies have
// changed.
func TestConflictsAreDecidedAnewWhereOtherPoliciesAreInForceThanBeforeARestart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		between func(d policytest.Tree)
		want    bool
	}{
		"the same policies": {func(policytest.Tree) {}, false},
		"others":            {func(d policytest.Tree) { d.Hooked("m", api.HookMerge, "reject") }, true},
		"none that decide":  {func(d policytest.Tree) { d.Hooked("m", api.HookAdmit, "allow") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d policytest.Tree, s *policytest.Scripts) {
				t := d.T
				keep, _ := keeping(t)
				d.Hooked("m", api.HookMerge, "winner 0")
				before, _ := listed(t, d, s, keep)
				stop := run(t, before)
				time.Sleep(time.Minute)
				stop()
				tc.between(d)
				after, _ := listed(t, d, s, keep)
				run(t, after)
				time.Sleep(time.Minute)
				asked := false
				select {
				case <-after.Rules().Changed():
					asked = true
				default:
				}
				if asked != tc.want {
					t.Errorf("conflicts are decided anew: %t, want %t", asked, tc.want)
				}
			})
		})
	}
}
