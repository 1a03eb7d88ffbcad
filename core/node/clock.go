package node

import "golang.org/x/sys/unix"

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
