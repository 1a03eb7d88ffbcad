package compile

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// maxStderr is how much of a child's standard error is kept, in bytes.
const maxStderr = 64 << 10

// childEnvironment is all of a child's environment. Without tracebacks the
// first line that a dying Go program writes says why. The race detector, in
// tests, is not to sleep for a second at the end.
var childEnvironment = []string{"GOMAXPROCS=1", "GOTRACEBACK=none", "GORACE=atexit_sleep_ms=0"}

// errWall is why a child was killed that took too long by the clock.
var errWall = errors.New("the time is over")

// runner starts children.
type runner struct {
	command     []string
	limits      Limits
	priority    Priority
	interpreted bool
}

// run has a child compile a module into dir, and waits for its end. The child
// ends when ctx does, when the wall limit is over, when the end that started was
// called with is called, and when this process ends.
func (r *runner) run(ctx context.Context, dir string, digest Digest, module []byte, started func(ran func() time.Duration, end func())) (*ended, error) {
	if startedAsChild() {
		return nil, errNotChild
	}
	t := task{Dir: dir, Length: len(module), Digest: digest.String(), Limits: r.limits, Priority: r.priority, Interpreted: r.interpreted}
	line, err := t.encode()
	if err != nil {
		return nil, err
	}
	// The kernel kills the child when the thread that started it ends: it must
	// not end before.
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

// processTime is the processor time of a process so far, 0 if it has ended.
func processTime(process int) time.Duration {
	// The clock of another process has its complement in the bits above the third,
	// and the kind of clock, 2 for what it ran, in the others.
	var t unix.Timespec
	if unix.ClockGettime(int32(^process<<3|2), &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// kept keeps the beginning of what is written to it.
type kept struct {
	data []byte
	most int
}

func (k *kept) Write(p []byte) (int, error) {
	k.data = append(k.data, p[:min(len(p), k.most-len(k.data))]...)
	return len(p), nil
}
