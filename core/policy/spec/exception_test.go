package spec

import (
	"testing"
	"time"
)

func TestTheEndOfADayIsThatInUTC(t *testing.T) {
	t.Parallel()
	for _, expires := range []any{"2026-12-31", time.Date(2026, 12, 31, 0, 0, 0, 0, time.FixedZone("date-local", 5*3600))} {
		if got, err := endOf(expires); err != nil || !got.Equal(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%v: %s, %v", expires, got, err)
		}
	}
}
