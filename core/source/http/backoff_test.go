package http

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// schedule runs a source whose readings succeed ('+') or fail ('-') in the order of readings,
// of which the last is repeated. It returns the times between the readings, n of them.
func schedule(t *testing.T, n int, readings string, c Config) []time.Duration {
	t.Helper()
	var gaps []time.Duration
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c.NodeName, c.Sink = "node", &sink{holds: map[string]string{}}
		s := New(c)
		last := time.Now()
		calls := 0
		s.fetch = func(context.Context, validators) (answer, error) {
			if calls > 0 {
				gaps = append(gaps, time.Since(last))
			}
			last = time.Now()
			outcome := readings[min(calls, len(readings)-1)]
			if calls++; calls > n {
				cancel()
			}
			if outcome == '-' {
				return answer{}, errors.New("failed")
			}
			return answer{body: []byte(manifestOf("a", "i"))}, nil
		}
		began := time.Now()
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
		if len(gaps) > 0 && time.Since(began) < gaps[0] {
			t.Error("the first reading waited")
		}
	})
	return gaps
}

func seconds(gaps ...float64) (d []time.Duration) {
	for _, s := range gaps {
		d = append(d, time.Duration(s*float64(time.Second)))
	}
	return d
}

func TestWhenTheServerIsAsked(t *testing.T) {
	t.Parallel()
	half := func(d time.Duration) time.Duration { return d + d/2 }
	for name, test := range map[string]struct {
		readings string
		config   Config
		want     []time.Duration
	}{
		"every 20 s, if nothing else is said":        {"+", Config{}, seconds(20, 20, 20)},
		"every period, whatever the jitter":          {"+", Config{Period: time.Minute, Jitter: half}, seconds(60, 60)},
		"sooner after failures, doubling":            {"-", Config{}, seconds(1, 2, 4, 8, 40.0/3, 40.0/3)},
		"with jitter, never later than the period":   {"-", Config{Jitter: half}, seconds(1.5, 3, 6, 12, 20, 20)},
		"a short period does not shorten the pauses": {"-", Config{Period: time.Second, Jitter: half}, seconds(1.5, 3, 6, 12, 20, 20)},
		"a long period lengthens them":               {"-", Config{Period: time.Minute, Jitter: half}, seconds(1.5, 3, 6, 12, 24, 48, 60, 60)},
		"even if the jitter is out of bounds":        {"-", Config{Jitter: func(d time.Duration) time.Duration { return 10 * d }}, seconds(10, 20, 20)},
		"a good reading begins anew":                 {"--+-", Config{}, seconds(1, 2, 20, 1, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := schedule(t, len(test.want), test.readings, test.config)
			for i := range got {
				got[i] = got[i].Round(time.Millisecond)
				test.want[i] = test.want[i].Round(time.Millisecond)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("times between readings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestManyFailuresDoNotOverflow(t *testing.T) {
	t.Parallel()
	s := New(Config{Sink: &sink{}})
	for _, s.failures = range []int{100, 1 << 40} {
		if got := s.pause(); got <= 10*time.Second || got > 20*time.Second {
			t.Errorf("pause %s after %d failures", got, s.failures)
		}
	}
}
