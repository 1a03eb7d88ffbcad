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

// detach removes what the child inherited from the agent and does not need:
// signals, privileges and files. It runs before the child reads anything.
func detach() error {
	// A signal to the process group is meant for the agent, which kills its child
	// itself.
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	// Without cgo this applies to all threads. With cgo (in tests) it applies to
	// this one.
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno == syscall.ENOTSUP {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("give up new privileges: %w", err)
		}
	} else if errno != 0 {
		return fmt.Errorf("give up new privileges: %w", errno)
	}
	// If memory runs out, the kernel kills this process first. If the kernel does
	// not support that, the child continues.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	return closeInherited()
}

// closeInherited closes all inherited files except the first three. Files that Go's
// runtime has opened have the flag close-on-exec; inherited files cannot have it.
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

// confine sets the limits of this process. base is its present address space.
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
		if limit.resource == unix.RLIMIT_CPU { // the first limit sends a signal, the second kills the process
			hard = min(most+2, had.Max)
		}
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: most, Max: hard}); err != nil {
			return fmt.Errorf("limit of %s to %d: %w", limit.what, most, err)
		}
	}
	// The garbage collector then runs more often before memory runs out.
	debug.SetMemoryLimit(l.Memory / 4 * 3)
	return nil
}

// yieldToAll sets the lowest priority for every thread of this process. A new
// thread inherits the priority of the thread that starts it, so yieldToAll repeats
// until there are no new threads. Errors of the kernel are ignored.
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

// addressSpace returns the size of this process's address space, in bytes.
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

// peakMemory returns the largest resident memory that this process had, in bytes; 0
// if the kernel does not report it. The resource usage that the parent gets is not
// used, because it may include memory of the parent itself.
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
