package node

import "golang.org/x/sys/unix"

// ClockSynchronized reports whether the kernel takes the node's clock for
// right: whether some time service, such as chrony, keeps it in step. It is
// false where the kernel does not say. The answer is of now and may be another
// one the next time.
func ClockSynchronized() bool { return clockSynchronized(unix.Adjtimex) }

// clockSynchronized reads what adjtimex(2) says. A leap second that is due or
// under way is no error.
func clockSynchronized(adjtimex func(*unix.Timex) (state int, err error)) bool {
	var t unix.Timex // without modes it only asks
	state, err := adjtimex(&t)
	return err == nil && state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0
}
