package pleg

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wardlet/wardlet/core/status"
)

func TestHappened(t *testing.T) {
	t.Parallel()
	now := time.Now()
	wall := now.Round(0)
	tests := []struct {
		name     string
		at       time.Time
		followed time.Duration
		want     time.Time
	}{
		{"when the runtime says", wall.Add(-5 * time.Millisecond), time.Hour, now.Add(-5 * time.Millisecond)},
		{"never where the runtime does not say", time.Time{}, time.Hour, time.Time{}},
		{"never where it was before events were followed", wall.Add(-2 * time.Second), time.Second, time.Time{}},
		{"now where that is yet to come", wall.Add(time.Hour), time.Hour, now},
		{"never where that is too long ago to be true", wall.Add(-61 * time.Second), time.Hour, time.Time{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := happened(tt.at, now, tt.followed)
			if !got.Equal(tt.want) || !got.IsZero() && !strings.Contains(got.String(), " m=") {
				t.Errorf("%s, want %s by the monotonic clock", got, tt.want)
			}
		})
	}
}

func TestEventFromBeforeTheClockWasSetForwardIsNotMeasured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var n notes
		f := newFakeRuntime(newPod("p", "a=running"))
		b, s := follow(t, f, Config{Observer: &n})
		time.Sleep(2 * time.Hour)
		for age, want := range map[time.Duration]bool{time.Second: true, time.Hour: false} {
			n.take()
			s.changes <- status.PodChange{UID: "p", Kind: status.ChangeDone, At: time.Now().Round(0).Add(-age)}
			b.settle()
			if got := slices.ContainsFunc(n.take(), func(l string) bool { return strings.HasPrefix(l, "lag ") }); got != want {
				t.Errorf("an event of %s ago is measured: %v, want %v", age, got, want)
			}
		}
	})
}
