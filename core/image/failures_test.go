package image

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

func TestFailures_forgetOldOnes(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Unix(0, 0)}
	f := newFailures(now.Now)
	f.add(failureKey{uid: "a", image: "x"}, context.Canceled)
	now.advance(2*pullBackOffMax + time.Second)
	f.add(failureKey{uid: "b", image: "x"}, context.Canceled)
	mustEqual(t, "failures kept", 1, len(f.last))
}

// set moves the wall clock of a time forward or back, as when the clock is set. The monotonic
// reading stays. Only the kernel makes such times, so set changes the bits.
func set(t time.Time, by time.Duration) time.Time {
	const secondsAt = 30
	wall := (*uint64)(unsafe.Pointer(&t))
	*wall += uint64(int64(by/time.Second) << secondsAt)
	return t
}

func TestFailures_waitTheSameWhenTheClockIsSet(t *testing.T) {
	t.Parallel()
	const decade = 10 * 365 * 24 * time.Hour
	for name, by := range map[string]time.Duration{"forward": decade, "back": -decade} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			started := time.Now() // in a bubble times have no monotonic reading
			synctest.Test(t, func(t *testing.T) {
				var jump time.Duration
				begun := time.Now()
				now := func() time.Time { return set(started.Add(time.Since(begun)), jump) }
				f, key := newFailures(now), failureKey{uid: "u", image: "i"}
				f.add(key, context.DeadlineExceeded)
				jump = by
				last, waits := f.waiting(key)
				if left := last.retryAt().Sub(now()); !waits || left != pullBackOff {
					t.Errorf("a pull waits: %v, for %s more", waits, left)
				}
				time.Sleep(pullBackOff - time.Second)
				if _, waits := f.waiting(key); !waits {
					t.Error("a pull waits no more")
				}
				time.Sleep(2 * time.Second)
				if _, waits := f.waiting(key); waits {
					t.Error("a pull still waits")
				}
			})
		})
	}
}
