package compile

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Priority is how a child competes with the rest of the node.
type Priority int

// The priorities.
const (
	// Lowest sets the least weight of a child that a process can have which is to
	// get on at all: SCHED_IDLE would stop it on a node that is never idle.
	Lowest Priority = iota
	// Normal lets it compete like the agent: for tests, on machines that are
	// busy with other tests.
	Normal
)

// detach takes from the child what it may have got from the agent by accident,
// before it reads anything.
func detach() error {
	// Who ends a group of processes means the agent, which ends its child itself.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	// Without cgo this is for all threads; with it (tests) for this one.
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno == syscall.ENOTSUP {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("give up new privileges: %w", err)
		}
	} else if errno != 0 {
		return fmt.Errorf("give up new privileges: %w", errno)
	}
	// If memory runs out, this process goes first. A kernel without it goes on.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	return closeInherited()
}

// closeInherited closes all files but the first three that came through exec.
// What Go's runtime has opened since carries close-on-exec, which no file that
// came through an exec can carry.
func closeInherited() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= 2 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			if err := unix.Close(fd); err != nil {
				return fmt.Errorf("close file %d: %w", fd, err)
			}
		}
	}
	return nil
}

// confine sets the limits of this process. base is its address space until now.
func confine(l Limits, base int64) error {
	for _, limit := range []struct {
		what     string
		resource int
		most     uint64
	}{
		{"address space", unix.RLIMIT_AS, uint64(base + l.Memory)},
		{"CPU time", unix.RLIMIT_CPU, l.cpuSeconds()},
		{"core dump", unix.RLIMIT_CORE, 0},
		{"file size", unix.RLIMIT_FSIZE, uint64(l.Code)},
	} {
		var had unix.Rlimit
		if err := unix.Getrlimit(limit.resource, &had); err != nil {
			return fmt.Errorf("limit of %s: %w", limit.what, err)
		}
		most := min(limit.most, had.Max)
		hard := most
		if limit.resource == unix.RLIMIT_CPU { // a signal at the first, the end at the second
			hard = min(most+2, had.Max)
		}
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: most, Max: hard}); err != nil {
			return fmt.Errorf("limit of %s to %d: %w", limit.what, most, err)
		}
	}
	// Collect rather than die, as long as that helps.
	debug.SetMemoryLimit(l.Memory / 4 * 3)
	return nil
}

// yieldToAll sets the lowest priority there is for every thread of this process.
// Threads begin with that of the one which starts them, so it is repeated until
// there is no new one. What the kernel does not allow is left out.
func yieldToAll() error {
	done := map[int]bool{}
	for {
		entries, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		before := len(done)
		for _, entry := range entries {
			thread, err := strconv.Atoi(entry.Name())
			if err != nil || done[thread] {
				continue
			}
			done[thread] = true
			_ = unix.Setpriority(unix.PRIO_PROCESS, thread, 19)
			const ofProcess, idle = 1, 3 << 13
			_, _, _ = unix.Syscall(unix.SYS_IOPRIO_SET, ofProcess, uintptr(thread), idle)
		}
		if len(done) == before {
			return nil
		}
	}
}

// addressSpace is that of this process, in bytes.
func addressSpace() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text) + " -")[0], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/self/statm: %w", err)
	}
	return pages * int64(os.Getpagesize()), nil
}

// peakMemory is the most resident memory this process had, in bytes; 0 where
// the kernel does not say. Its usage as the parent gets it may contain the
// parent's own.
func peakMemory() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, err := strconv.ParseInt(strings.Fields(after + " -")[0], 10, 64)
	if err != nil {
		return 0
	}
	return kilobytes << 10
}
