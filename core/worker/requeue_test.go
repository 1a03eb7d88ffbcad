package worker

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

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
			"a runtime that is away waits 1 s":               {fmt.Errorf("start container a: %w", status.ErrAway), 1250 * time.Millisecond},
			"a back-off waits exactly until it is over":      {in(7 * time.Second), 7 * time.Second},
			"a back-off that is over waits for nothing":      {in(-time.Second), 0},
			"a long back-off waits no longer than a resync":  {in(5 * time.Minute), time.Minute},
			"of several back-offs the first counts":          {failures{in(40 * time.Second), in(20 * time.Second)}, 20 * time.Second},
			"an ordinary error beside a long back-off":       {failures{in(40 * time.Second), errBroken}, 12500 * time.Millisecond},
			"an ordinary error beside a back-off that is up": {failures{errBroken, in(time.Second)}, time.Second},
		} {
			if got := p.retryIn(tc.err); got != tc.want {
				t.Errorf("%s: %s, want %s", name, got, tc.want)
			}
		}
	})
}
