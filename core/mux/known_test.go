package mux

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestDesired_knownStaysWhereADeniedPodIsJudgedAgain checks that Known of a pod stays the same
// while the pod is denied and judged again.
func TestDesired_knownStaysWhereADeniedPodIsJudgedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJudge()
		g := startGated(t, newDisk(), j)
		begun := time.Now()
		age := func(when string, want time.Duration) {
			t.Helper()
			g.got()
			pods := g.mux.Pods()
			if len(pods) != 1 {
				t.Fatalf("%s: %d pods, want one", when, len(pods))
			}
			if got := time.Since(pods[0].Known); got != want {
				t.Errorf("%s: known for %s, want %s", when, got, want)
			}
		}
		g.deliver("one", doc("a#0", "web", "u1", "evil"))
		age("denied", 0)
		time.Sleep(108 * time.Second)
		j.become(false, "s2")
		age("denied again", 108*time.Second)
		j.ponder()
		time.Sleep(time.Second)
		j.become(false, "s3")
		age("asked about again", 109*time.Second)
		j.speak()
		age("denied a third time", 109*time.Second)
		time.Sleep(time.Second)
		j.become(true, "s4")
		age("admitted", time.Since(begun))
		time.Sleep(time.Second)
		g.deliver("one", doc("a#0", "web", "u2", "web:2"))
		age("another pod of its name", 0)
		g.stop()
	})
}
