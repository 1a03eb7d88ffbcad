package compile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"
)

// ended is how a child ended.
type ended struct {
	status         syscall.WaitStatus
	cpu            time.Duration
	stdout, stderr []byte
	// stopped is why this process has stopped it, nil if it has not: errWall, or
	// why the caller's context ended.
	stopped error
}

// diskFault is the error for a directory that cannot be written to.
type diskFault struct{ err error }

func (f *diskFault) Error() string { return "the directory of compiled code: " + f.err.Error() }
func (f *diskFault) Unwrap() error { return f.err }

// outOfMemory is what Go's runtime, the race detector and the C library say
// when they get no memory.
var outOfMemory = []string{
	"out of memory", "cannot allocate memory", "failed to create new OS thread", "pthread_create failed", "errno: 12",
	"address space collisions", // what the race detector says, in tests
}

// judge says what a child has made, or why it has not: a *Refused where the
// module is at fault, a *diskFault, or any other error where the machine is.
func (e *ended) judge(l Limits) (*report, error) {
	if e.status.Exited() && (e.status.ExitStatus() == statusCompiled || e.status.ExitStatus() == statusNot) {
		return e.read()
	}
	refused := func(reason Reason, format string, args ...any) (*report, error) {
		return nil, &Refused{Reason: reason, Text: fmt.Sprintf(format, args...)}
	}
	says := oneLine(string(e.stderr))
	signal := e.status.Signal() // -1 if there was none
	killed := signal == syscall.SIGKILL
	switch {
	// By the kernel, where the child could not say it itself.
	case killed && e.cpu >= time.Duration(l.cpuSeconds())*time.Second, signal == syscall.SIGXCPU:
		return refused(CPU, "it takes more than %d s of processor time to compile", l.cpuSeconds())
	case killed && errors.Is(e.stopped, errWall):
		return nil, e.late(l)
	case killed && e.stopped != nil:
		return nil, e.stopped
	case saysNoThread(e.stderr):
		return nil, fmt.Errorf("the child that compiles got no thread, as there are too many on the node or in its cgroup: try again; it said: %s", says)
	case saysOutOfMemory(e.stderr):
		return refused(Memory, "it takes more than %d bytes of memory to compile: %s", l.Memory, says)
	// What it may take is bounded from within: a module cannot bring this about.
	case killed:
		return nil, errors.New("the child that compiles was killed from outside, as the kernel does where memory runs out: try again")
	case signal == syscall.SIGTERM, signal == syscall.SIGINT, signal == syscall.SIGHUP:
		return nil, fmt.Errorf("the child that compiles was ended from outside (%v): try again", signal)
	case e.status.Signaled():
		return refused(Crash, "the compiler died of signal %d (%v) after %v of processor time; it said: %q", signal, signal, e.cpu.Round(time.Millisecond), says)
	}
	return refused(Crash, "the compiler ended with status %d; it said: %q", e.status.ExitStatus(), says)
}

// late is the error for a child that was killed at the wall limit. It says nothing
// about the module, which may take as much processor time as the limit allows: the
// node is busy.
func (e *ended) late(l Limits) error {
	return fmt.Errorf("the module was not compiled within %v, in which the child got the processor for %v of at most %v: the node is busy, try again",
		l.Wall, e.cpu.Round(time.Millisecond), l.CPU)
}

// read reads the report of a child that wrote one.
func (e *ended) read() (*report, error) {
	r, err := parseReport(e.stdout)
	if err != nil {
		return nil, fmt.Errorf("the child that compiles: %w; it said: %q", err, oneLine(string(e.stderr)))
	}
	compiled := !r.Failed && r.Refused == ""
	switch {
	case compiled != (e.status.ExitStatus() == statusCompiled):
		return nil, fmt.Errorf("the child that compiles: its report does not fit its exit status %d", e.status.ExitStatus())
	case r.Disk:
		return nil, &diskFault{errors.New(oneLine(r.Text))}
	case r.Failed:
		return nil, fmt.Errorf("the child that compiles: %s", oneLine(r.Text))
	case r.Refused != "":
		return nil, &Refused{Reason: r.Refused, Text: oneLine(r.Text)}
	}
	return r, nil
}

func saysOutOfMemory(stderr []byte) bool {
	return slices.ContainsFunc(outOfMemory, func(text string) bool { return bytes.Contains(firstLine(stderr), []byte(text)) })
}

// saysNoThread reports whether Go's runtime got EAGAIN for a new thread. Memory is
// no reason for that, and a child has few threads: others have too many.
func saysNoThread(stderr []byte) bool {
	first := firstLine(stderr)
	return bytes.Contains(first, []byte("failed to create new OS thread")) && bytes.Contains(first, []byte("errno=11"))
}

func firstLine(stderr []byte) []byte {
	first, _, _ := bytes.Cut(bytes.TrimSpace(stderr), []byte("\n"))
	return first
}
