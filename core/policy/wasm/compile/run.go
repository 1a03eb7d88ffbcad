package compile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxStderr is how much of a child's standard error is kept, in bytes.
const maxStderr = 64 << 10

// childEnvironment is the whole environment of a child. Without tracebacks, the
// first line that a crashing Go program writes is the reason. The race detector,
// which tests use, must not sleep for a second at the end.
var childEnvironment = []string{"GOMAXPROCS=1", "GOTRACEBACK=none", "GORACE=atexit_sleep_ms=0"}

// errWall is the error if a child was killed because it took too long by the clock.
var errWall = errors.New("the time is over")

// runner starts children.
type runner struct {
	command     []string
	limits      Limits
	priority    Priority
	interpreted bool
}

// run starts a child that compiles a module into dir, and waits until it has ended.
// The child is killed when ctx is done, when the wall limit has passed, when the
// function end that is passed to started is called, and when this process ends.
func (r *runner) run(ctx context.Context, dir string, digest Digest, module []byte, started func(ran func() time.Duration, end func())) (*ended, error) {
	if startedAsChild() {
		return nil, errNotChild
	}
	t := task{Dir: dir, Length: len(module), Digest: digest.String(), Limits: r.limits, Priority: r.priority, Interpreted: r.interpreted}
	line, err := t.encode()
	if err != nil {
		return nil, err
	}
	// The kernel kills the child when the thread that started it ends, so this
	// goroutine keeps its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, stop := context.WithTimeoutCause(ctx, r.limits.Wall, errWall)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, r.command[0], r.command[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Dir, cmd.Env = "/", childEnvironment
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.Stdin = io.MultiReader(bytes.NewReader(line), bytes.NewReader(module))
	stdout, stderr := kept{most: maxLine}, kept{most: maxStderr}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, context.Cause(ctx))
	}
	process := cmd.Process.Pid
	started(func() time.Duration { return processTime(process) }, func() { cancel(errDisplaced) })
	err = cmd.Wait()
	if cmd.ProcessState == nil {
		return nil, errors.Join(err, context.Cause(ctx))
	}
	e := &ended{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), stdout: stdout.data, stderr: stderr.data}
	e.status, _ = cmd.ProcessState.Sys().(syscall.WaitStatus)
	e.stopped = context.Cause(ctx)
	return e, nil
}

// processTime returns the processor time of a process so far, 0 if it has ended.
func processTime(process int) time.Duration {
	// The ID of another process's clock is the complement of the process ID in the
	// bits from 3 upwards, and the kind of clock in the bits below: 2 is time on a
	// processor.
	var t unix.Timespec
	if unix.ClockGettime(int32(^process<<3|2), &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// kept is a writer that keeps the first most bytes.
type kept struct {
	data []byte
	most int
}

func (k *kept) Write(p []byte) (int, error) {
	k.data = append(k.data, p[:min(len(p), k.most-len(k.data))]...)
	return len(p), nil
}

// ended describes how a child ended.
type ended struct {
	status         syscall.WaitStatus
	cpu            time.Duration
	stdout, stderr []byte
	// stopped is why this process killed the child, nil if it did not: errWall,
	// errDisplaced, or the cause of the caller's context.
	stopped error
}

// diskFault is the error for a directory that cannot be written to.
type diskFault struct{ err error }

func (f *diskFault) Error() string { return "the directory of compiled code: " + f.err.Error() }
func (f *diskFault) Unwrap() error { return f.err }

// outOfMemory are the messages of Go's runtime, the race detector and the C library
// when they get no memory.
var outOfMemory = []string{
	"out of memory", "cannot allocate memory", "failed to create new OS thread", "pthread_create failed", "errno: 12",
	"address space collisions", // what the race detector says, in tests
}

// judge returns the report of a child that compiled the module. Otherwise the error
// is a *Refused if the module is at fault, a *diskFault if the disk is, or any
// other error if the machine is.
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
	// The kernel enforced the limit, and the child could not report it.
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
	// The child's own limits bound its memory: the module cannot cause this.
	case killed:
		return nil, errors.New("the child that compiles was killed from outside, as the kernel does where memory runs out: try again")
	case signal == syscall.SIGTERM, signal == syscall.SIGINT, signal == syscall.SIGHUP:
		return nil, fmt.Errorf("the child that compiles was ended from outside (%v): try again", signal)
	case e.status.Signaled():
		return refused(Crash, "the compiler died of signal %d (%v) after %v of processor time; it said: %q", signal, signal, e.cpu.Round(time.Millisecond), says)
	}
	return refused(Crash, "the compiler ended with status %d; it said: %q", e.status.ExitStatus(), says)
}

// late returns the error for a child that was killed at the wall limit. The module
// is not refused, because it may need no more processor time than the limit allows:
// the node is busy.
func (e *ended) late(l Limits) error {
	return fmt.Errorf("the module was not compiled within %v, in which the child got the processor for %v of at most %v: the node is busy, try again",
		l.Wall, e.cpu.Round(time.Millisecond), l.CPU)
}

// read parses the report of a child that wrote one.
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

// saysNoThread reports whether Go's runtime got EAGAIN for a new thread. Lack of
// memory does not cause that, and a child has few threads: others have too many.
func saysNoThread(stderr []byte) bool {
	first := firstLine(stderr)
	return bytes.Contains(first, []byte("failed to create new OS thread")) && bytes.Contains(first, []byte("errno=11"))
}

func firstLine(stderr []byte) []byte {
	first, _, _ := bytes.Cut(bytes.TrimSpace(stderr), []byte("\n"))
	return first
}

// watcher observes the children that compile a module.
type watcher struct {
	// started is called when a child has started. ran returns its processor time so
	// far. end kills it, with the error errDisplaced.
	started func(ran func() time.Duration, end func())
	// ended is called with the processor time of each child, whether or not it
	// succeeded.
	ended func(cpu time.Duration)
}

// compile starts a child that compiles a module into the cache. If the module is at
// fault, the error is a *Refused, and the refusal is stored.
func (c *Cache) compile(ctx context.Context, digest Digest, module []byte, w *watcher) error {
	err := c.compileOn(ctx, c.primary, digest, module, w)
	if _, disk := errors.AsType[*diskFault](err); disk {
		spare, fault := c.needSpare(err)
		if fault != nil {
			return fault
		}
		err = c.compileOn(ctx, spare, digest, module, w)
	}
	if refused, ok := errors.AsType[*Refused](err); ok {
		// Round the time to what is stored, so that it is the same when it is read.
		refused.Digest, refused.At = digest, c.options.Now().UTC().Round(time.Millisecond)
		c.remember(refused)
	}
	return err
}

// compileOn compiles a module onto one shelf.
func (c *Cache) compileOn(ctx context.Context, s *shelf, digest Digest, module []byte, w *watcher) (err error) {
	dir, err := s.temp()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	end, err := c.children.run(ctx, dir, digest, module, w.started)
	if err != nil {
		return err
	}
	w.ended(end.cpu)
	r, err := end.judge(c.options.Limits)
	if err != nil {
		return err
	}
	if c.interpreted && len(r.Files) > 0 {
		return fmt.Errorf("the child that compiles has made %d files of code for an interpreter", len(r.Files))
	}
	for _, f := range r.all() {
		made, err := f.open(dir)
		if err != nil {
			return fmt.Errorf("the child that compiles has not made what it reports: %w", err)
		}
		if err := made.Close(); err != nil {
			return err
		}
	}
	e := &entry{Module: digest.String(), Engine: c.maker, codeFiles: r.codeFiles, Cost: r.Cost}
	if err := s.install(dir, digest, e, c.options.Now()); err != nil {
		return err
	}
	if err := s.evict(c.options.MaxBytes, digest); err != nil {
		c.options.Log.Warn("compiled plugins that are not needed cannot be removed", "directory", s.dir, "error", err)
	}
	return nil
}

// remember stores a refusal.
func (c *Cache) remember(r *Refused) {
	err := c.primary.refuse(r, c.terms, c.options.MaxRefused)
	if err != nil {
		var s *shelf
		if s, err = c.needSpare(err); err == nil {
			err = s.refuse(r, c.terms, c.options.MaxRefused)
		}
	}
	if err != nil {
		c.options.Log.Warn("the refusal of a plugin cannot be saved: it will be tried again", "module", r.Digest.String(), "error", err)
	}
}
