package cli

import (
	"testing"
	"time"
)

func TestAge_isNeverNegative(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	for ago, want := range map[time.Duration]string{
		90 * time.Second: "90s", 0: "0s", -time.Second: "0s", -time.Hour: "0s", -10 * 365 * 24 * time.Hour: "0s",
	} {
		if got := Age(now, now.Add(-ago)); got != want {
			t.Errorf("%s ago is %q, want %q", ago, got, want)
		}
	}
}
