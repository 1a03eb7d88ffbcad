package node

import (
	"regexp"
	"testing"
	"time"
)

func TestTheBootClockGoesOnAndNamesTheBoot(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	boot, since, err := BootTime()
	if err != nil {
		t.Fatal(err)
	}
	if since <= 0 || !regexp.MustCompile(`^[0-9a-f-]{36}$`).MatchString(boot) {
		t.Errorf("%s since the boot %q", since, boot)
	}
	// The time that passes between two readings of BootTime lies between two durations of another
	// clock: one measured from after the first reading to before the second, the other around both.
	// The two clocks may round differently.
	const rounding = time.Microsecond
	for first := time.Now(); ; {
		last := time.Now()
		again, later, err := BootTime()
		if err != nil {
			t.Fatal(err)
		}
		passed, least, most := later-since, last.Sub(first)-rounding, time.Since(begun)+rounding
		if again != boot || passed < least || passed > most {
			t.Fatalf("boot %q, then %q; %s have passed, want %s to %s", boot, again, passed, least, most)
		}
		if least > time.Millisecond {
			return
		}
	}
}
