package worker

import (
	"fmt"
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
		q.remove("dropped")
		q.add("at once", 0)
		expect := func(want ...types.UID) {
			t.Helper()
			if diff := cmp.Diff(want, q.popDue()); diff != "" {
				t.Errorf("at %s due (-want +got):\n%s", time.Now(), diff)
			}
		}
		expect() // only entries with a time before now are due
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
		if due := q.popDue(); len(due) > 0 {
			t.Errorf("%s is due, and the clock stands still", due)
		}
		if wait, _ := b.reserve("1", webKey, dead); wait != restartDelays.Min {
			t.Errorf("a restart waits %s, and the clock stands still", wait)
		}
		q.add("2", time.Second)
		now = now.Add(restartDelays.Min)
		if due := q.popDue(); len(due) != 2 {
			t.Errorf("%s is due, and the clock has gone on", due)
		}
		if wait, _ := b.reserve("1", webKey, dead); wait != 0 {
			t.Errorf("a restart waits %s, and the clock has gone on", wait)
		}
	})
}

func TestRetryIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{
			SyncFrequency: time.Minute, Now: time.Now,
			Jitter: func(d time.Duration) time.Duration { return d + d/4 },
		})
		in := func(d time.Duration) error {
			return fmt.Errorf("container a: %w", &status.Fault{
				Reason: "CrashLoopBackOff", RetryAt: time.Now().Add(d), Err: errBroken,
			})
		}
		for name, tc := range map[string]struct {
			err  error
			want time.Duration
		}{
			"an ordinary error waits 10 s, jittered":         {errBroken, 12500 * time.Millisecond},
			"a fault without a time is an ordinary error":    {&status.Fault{Reason: "ErrImagePull", Err: errBroken}, 12500 * time.Millisecond},
			"a network that is not ready waits 1 s":          {fmt.Errorf("%w: %w", errNetwork, errBroken), 1250 * time.Millisecond},
			"a runtime that is away waits 1 s":               {fmt.Errorf("start container a: %w", status.ErrRuntimeUnavailable), 1250 * time.Millisecond},
			"a back-off waits exactly until it is over":      {in(7 * time.Second), 7 * time.Second},
			"a back-off that is over waits for nothing":      {in(-time.Second), 0},
			"a long back-off waits no longer than a resync":  {in(5 * time.Minute), time.Minute},
			"of several back-offs the first counts":          {failures{in(40 * time.Second), in(20 * time.Second)}, 20 * time.Second},
			"an ordinary error beside a long back-off":       {failures{in(40 * time.Second), errBroken}, 12500 * time.Millisecond},
			"an ordinary error beside a back-off that is up": {failures{errBroken, in(time.Second)}, time.Second},
		} {
			if got := p.retryDelay(tc.err); got != tc.want {
				t.Errorf("%s: %s, want %s", name, got, tc.want)
			}
		}
	})
}
