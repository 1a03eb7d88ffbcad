package agent

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// slowStop is a part whose calls take a while to finish.
type slowStop time.Duration

func (s slowStop) Stop(ctx context.Context) {
	select {
	case <-time.After(time.Duration(s)):
	case <-ctx.Done():
	}
}

func TestCallsInFlightHaveTenSecondsTogether(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		calls []stopper
		want  time.Duration
	}{
		"none":               {nil, 0},
		"that finish":        {[]stopper{slowStop(3 * time.Second), slowStop(2 * time.Second)}, 3 * time.Second},
		"that hang":          {[]stopper{slowStop(time.Hour), slowStop(time.Hour)}, callsTimeout},
		"of which one hangs": {[]stopper{slowStop(time.Second), slowStop(time.Hour)}, callsTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				ctx, cancel := endCalls(t.Context())
				defer cancel()
				finishCalls(ctx, tt.calls...)
				if took := time.Since(begun); took != tt.want {
					t.Errorf("took %s, want %s", took, tt.want)
				}
			})
		})
	}
}
