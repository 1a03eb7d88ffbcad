package policy

import (
	"testing"
	"time"
)

// Answers to conflicts outlive a restart; they are asked for again if the policies are others.
func TestConflictsAreDecidedAnewWhereOtherPoliciesAreInForceThanBeforeARestart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		between func(d tree)
		want    bool
	}{
		"the same policies": {func(tree) {}, false},
		"others":            {func(d tree) { d.hooked("m", hookMerge, "reject") }, true},
		"none that decide":  {func(d tree) { d.hooked("m", hookAdmit, "allow") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(d tree, s *scripts) {
				t := d.t
				keep, _ := keeping(t)
				d.hooked("m", hookMerge, "winner 0")
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
