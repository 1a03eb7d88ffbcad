package worker

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

var webKey = restartKey{name: "web", image: "img"}

// crash asks for a restart until it is allowed, and gives how long that took.
func crash(t *testing.T, b *restartBackoff, id string, finished time.Time) time.Duration {
	t.Helper()
	begun := time.Now()
	dead := &status.ObservedContainer{ID: id, Name: "web", FinishedAt: finished}
	for range 100 {
		wait, _ := b.take("1", webKey, dead)
		if wait == 0 {
			return time.Since(begun)
		}
		time.Sleep(wait)
	}
	t.Fatalf("instance %s is never allowed a successor", id)
	return 0
}

func TestBackoffSeries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRestartBackoff(time.Now)
		for i, secs := range []int64{0, 10, 20, 40, 80, 160, 300, 300} {
			if got := crash(t, b, strconv.Itoa(i), time.Now()); got != seconds(secs) {
				t.Errorf("crash %d waits %s, want %ds", i+1, got, secs)
			}
			time.Sleep(time.Second) // it runs for a while
		}
	})
}

func TestBackoffCountsFromTheCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRestartBackoff(time.Now)
		crash(t, b, "a", time.Now())
		time.Sleep(30 * time.Second)
		if got := crash(t, b, "b", time.Now().Add(-4*time.Second)); got != 6*time.Second {
			t.Errorf("a crash seen 4 s late waits %s, want 6s", got)
		}
	})
}

func TestBackoffResets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRestartBackoff(time.Now)
		crash(t, b, "a", time.Now())
		crash(t, b, "b", time.Now())
		time.Sleep(601 * time.Second)
		if got := crash(t, b, "c", time.Now()); got != 0 {
			t.Errorf("a crash after 601 s waits %s, want none", got)
		}
		if got := crash(t, b, "d", time.Now()); got != 10*time.Second {
			t.Errorf("the crash after that waits %s, want 10s", got)
		}
		b.forget("1")
		if got := crash(t, b, "e", time.Now()); got != 0 {
			t.Errorf("a forgotten pod waits %s, want none", got)
		}
	})
}

func TestBackoffIsPaidOncePerCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newRestartBackoff(time.Now)
		crash(t, b, "a", time.Now())
		crash(t, b, "b", time.Now())
		for range 5 { // the successor of b cannot be made, and is tried again
			if got := crash(t, b, "b", time.Now()); got != 0 {
				t.Fatalf("another try waits %s, want none", got)
			}
		}
		if got := crash(t, b, "c", time.Now()); got != 20*time.Second {
			t.Errorf("the next crash waits %s, want 20s", got)
		}
	})
}

func TestBackoffSurvivesWallClockJumps(t *testing.T) {
	t.Parallel()
	const years = 10 * 365 * 24 * time.Hour
	for name, jump := range map[string]time.Duration{"forward": years, "backward": -years} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newRestartBackoff(time.Now)
				crash(t, b, "a", time.Now())
				crash(t, b, "b", time.Now())
				finished := time.Now().Add(-jump) // by the wall clock from before it jumped
				if got := crash(t, b, "c", finished); got != 20*time.Second {
					t.Errorf("waits %s, want 20s", got)
				}
			})
		})
	}
}
