package shutdown

import (
	"testing"
	"time"
)

func TestGroupOf(t *testing.T) {
	t.Parallel()
	two := []Period{{Priority: 0, Period: 20 * time.Second}, {Priority: 2_000_000_000, Period: 10 * time.Second}}
	three := []Period{{Priority: 10}, {Priority: 100}, {Priority: 1000}}
	for name, test := range map[string]struct {
		periods  []Period
		priority int32
		want     int
	}{
		"no priority":                      {two, 0, 0},
		"below all periods":                {two, -5, 0},
		"high, but not critical":           {two, 1_999_999_999, 0},
		"exactly critical":                 {two, 2_000_000_000, 1},
		"above critical":                   {two, 2_000_001_000, 1},
		"below the lowest of three":        {three, 9, 0},
		"between two belongs to the lower": {three, 999, 1},
		"on a boundary":                    {three, 100, 1},
		"above all periods":                {three, 5000, 2},
		"one period has all":               {[]Period{{Priority: 50}}, 7, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := groupOf(test.periods, test.priority); got != test.want {
				t.Errorf("group %d, want %d", got, test.want)
			}
		})
	}
}
