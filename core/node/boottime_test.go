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
	// What passes by it lies between what passes by another clock, read inside of its two
	// readings and outside. The two may round otherwise.
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
