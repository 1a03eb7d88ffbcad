package node

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ClockSynchronized reports whether the kernel considers the node's clock correct: whether a time
// service, such as chrony, synchronizes it. It is false if the kernel does not report that. The
// result may change at any time.
func ClockSynchronized() bool { return clockSynchronized(unix.Adjtimex) }

// clockSynchronized evaluates the result of adjtimex(2). A pending or current leap second is no
// error.
func clockSynchronized(adjtimex func(*unix.Timex) (state int, err error)) bool {
	var t unix.Timex // without modes, the call only reads
	state, err := adjtimex(&t)
	return err == nil && state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0
}

// BootTime returns the ID of the current boot of the machine, and the time since that boot,
// including suspended time. This clock is never set.
func BootTime() (boot string, since time.Duration, err error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", 0, fmt.Errorf("reading which boot this is: %w", err)
	}
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return "", 0, fmt.Errorf("reading the time since the boot: %w", err)
	}
	return strings.TrimSpace(string(id)), time.Duration(t.Nano()), nil
}
