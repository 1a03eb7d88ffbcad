package node

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

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
