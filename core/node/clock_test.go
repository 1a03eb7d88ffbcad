package node

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestTheClockIsInStep(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		state  int
		status int32
		err    error
		want   bool
	}{
		"where the kernel finds no fault":         {unix.TIME_OK, unix.STA_PLL, nil, true},
		"with a leap second due":                  {unix.TIME_INS, unix.STA_PLL | unix.STA_INS, nil, true},
		"with a second to be left out":            {unix.TIME_DEL, unix.STA_PLL | unix.STA_DEL, nil, true},
		"in a leap second":                        {unix.TIME_OOP, unix.STA_PLL | unix.STA_INS, nil, true},
		"after a leap second":                     {unix.TIME_WAIT, unix.STA_PLL | unix.STA_INS, nil, true},
		"counting in nanoseconds":                 {unix.TIME_OK, unix.STA_NANO | unix.STA_PLL | unix.STA_FREQHOLD, nil, true},
		"not where nothing keeps it so":           {unix.TIME_ERROR, unix.STA_UNSYNC, nil, false},
		"not with an error of the clock":          {unix.TIME_ERROR, unix.STA_CLOCKERR, nil, false},
		"not with another error":                  {unix.TIME_ERROR, 0, nil, false},
		"not where only the status says it":       {unix.TIME_OK, unix.STA_UNSYNC | unix.STA_PLL, nil, false},
		"not with a leap second that cannot tell": {unix.TIME_INS, unix.STA_UNSYNC | unix.STA_INS, nil, false},
		"not where the kernel does not say":       {unix.TIME_OK, unix.STA_PLL, unix.EPERM, false},
	} {
		got := clockSynchronized(func(now *unix.Timex) (int, error) {
			if *now != (unix.Timex{}) {
				t.Errorf("%s: the kernel is told %+v: it shall only be asked", name, now)
			}
			now.Status = test.status
			return test.state, test.err
		})
		if got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

func TestTheKernelIsAskedForTheClock(t *testing.T) {
	t.Parallel()
	// The kernel's answer may change between the calls.
	for range 10 {
		before, got, after := clockSynchronized(unix.Adjtimex), ClockSynchronized(), clockSynchronized(unix.Adjtimex)
		if before == got && got == after {
			return
		}
	}
	t.Error("never the same as the kernel says")
}
