package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(time.Now)
		q.add("soon", time.Second)
		q.add("later", time.Second)
		q.add("later", 10*time.Second) // a later entry replaces the earlier one
		q.add("dropped", time.Second)
		q.forget("dropped")
		q.add("at once", 0)
		expect := func(want ...types.UID) {
			t.Helper()
			if diff := cmp.Diff(want, q.take()); diff != "" {
				t.Errorf("at %s due (-want +got):\n%s", time.Now(), diff)
			}
		}
		expect() // due is what was due before now
		time.Sleep(time.Second)
		expect("at once")
		time.Sleep(time.Millisecond)
		expect("soon")
		expect()
		time.Sleep(10 * time.Second)
		expect("later")
	})
}

func TestTimesAreThoseOfTheClockThatWasGiven(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		clock := func() time.Time { return now }
		q, b := newQueue(clock), newRestartBackoff(clock)
		crash(t, b, "a", now)
		dead := &status.ObservedContainer{ID: "b", Name: "web", FinishedAt: now}
		q.add("1", time.Second)
		time.Sleep(time.Hour)
		if due := q.take(); len(due) > 0 {
			t.Errorf("%s is due, and the clock stands still", due)
		}
		if wait, _ := b.take("1", webKey, dead); wait != restartDelays.Min {
			t.Errorf("a restart waits %s, and the clock stands still", wait)
		}
		q.add("2", time.Second)
		now = now.Add(restartDelays.Min)
		if due := q.take(); len(due) != 2 {
			t.Errorf("%s is due, and the clock has gone on", due)
		}
		if wait, _ := b.take("1", webKey, dead); wait != 0 {
			t.Errorf("a restart waits %s, and the clock has gone on", wait)
		}
	})
}
