package runtime

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// decade is how far the clock is set in these tests.
const decade = 10 * 365 * 24 * time.Hour

// set is a moment on a wall clock that was set forward, or back, by some time: the
// monotonic reading stays. Nothing but the kernel makes such times, so it is done to
// the bits.
func set(t time.Time, by time.Duration) time.Time {
	const secondsAt = 30
	wall := (*uint64)(unsafe.Pointer(&t))
	*wall += uint64(int64(by/time.Second) << secondsAt)
	return t
}

func TestAClockThatIsSetChangesNoDuration(t *testing.T) {
	t.Parallel()
	for name, by := range map[string]time.Duration{"forward": decade, "back": -decade} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started := time.Now() // in a bubble times have no monotonic reading
			synctest.Test(t, func(t *testing.T) {
				var jump time.Duration
				begun := time.Now()
				now := func() time.Time { return set(started.Add(time.Since(begun)), jump) }
				before := now()

				p := newPulls(now)
				key := pullKey{uid: "u", image: "i"}
				p.failed(key, errors.New("no route"))
				health := newStatus("unix:///x", slog.New(slog.DiscardHandler), now, func(context.Context) (*runtimeapi.RuntimeStatus, error) {
					return &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
						{Type: runtimeapi.RuntimeReady, Status: true}, {Type: runtimeapi.NetworkReady, Status: true},
					}}, nil
				})
				health.ask(t.Context())

				jump = by
				if off := now().Round(0).Sub(before.Round(0)); off != by || now().Sub(before) != 0 {
					t.Fatalf("the clock is %s off, and %s have passed", off, now().Sub(before))
				}
				failure, waits := p.waiting(key)
				if left := failure.until().Sub(now()); !waits || left != pullBackOff {
					t.Errorf("a pull waits: %v, for %s more", waits, left)
				}
				time.Sleep(pullBackOff - time.Second)
				if _, waits := p.waiting(key); !waits {
					t.Error("a pull waits no more")
				}
				if err := health.Healthy(); err != nil {
					t.Errorf("the runtime is not well: %v", err)
				}
				time.Sleep(2 * time.Second)
				if _, waits := p.waiting(key); waits {
					t.Error("a pull still waits")
				}
				time.Sleep(maxSilence)
				if health.Healthy() == nil {
					t.Error("a runtime that is silent is well")
				}
			})
		})
	}
}
