package certificate

import (
	"testing"
	"time"
)

// A request that stays unsigned is read once a minute, not every few seconds.
func TestPause(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		tries  int
		waited time.Duration
		want   time.Duration
	}{
		"at first":        {0, 0, 50 * time.Millisecond},
		"after a while":   {20, time.Minute, 5 * time.Second},
		"after a weekend": {3000, 48 * time.Hour, time.Minute},
	} {
		if got := pause(test.tries, test.waited); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
