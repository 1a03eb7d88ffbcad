package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// ErrEnded means that the agent exited although it was not asked to.
var ErrEnded = errors.New("the agent ended by itself")

// QuickEnd makes a process with the race detector exit at once when it is done. Otherwise the
// process waits for a second first, and so does every command.
const QuickEnd = "GORACE=atexit_sleep_ms=0"

// Process is an agent process that runs or has exited. One goroutine waits for its exit, and then
// closes ended.
type Process struct {
	command *exec.Cmd
	ended   chan struct{}
	// err is how it exited; it is set before ended is closed.
	err error
	// begun is when it was started.
	begun time.Time
	// told is the first signal of Signal that asked it to exit, 0 for none. early is whether it had
	// hardly started at that time.
	told  atomic.Int32
	early atomic.Bool
}

// StartProcess starts a command in a session of its own, where no signal of the terminal reaches
// it. The process is killed when this process exits. Its output is added to the log file.
func StartProcess(log string, command *exec.Cmd) (*Process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the agent's log: %w", err)
	}
	defer file.Close()
	command.Stdout, command.Stderr = file, file
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Setsid, command.SysProcAttr.Pdeathsig = true, syscall.SIGKILL
	p := &Process{command: command, ended: make(chan struct{}), begun: time.Now()}
	started := make(chan error)
	go func() {
		defer close(p.ended)
		runtime.LockOSThread() // it is killed when the thread that started it exits
		defer runtime.UnlockOSThread()
		err := command.Start()
		if started <- err; err == nil {
			p.err = command.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	return p, nil
}

// PID returns the process ID.
func (p *Process) PID() int { return p.command.Process.Pid }

// Ended returns a channel that is closed when the process has exited.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Failure returns how the process exited, as exec.Cmd.Wait reports it, or nil while it runs.
func (p *Process) Failure() error {
	select {
	case <-p.ended:
		return p.err
	default:
		return nil
	}
}

// Gone returns ErrEnded, with the exit status, once the process has exited, or nil while it runs.
func (p *Process) Gone() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%w: process %d: %s", ErrEnded, p.PID(), p.command.ProcessState)
	default:
		return nil
	}
}

// Crashed returns Gone's error for a process that exited although Signal had not asked it to, else
// nil.
func (p *Process) Crashed() error {
	if p.told.Load() != 0 {
		return nil
	}
	return p.Gone()
}

// listenTime is how long a process may take to start handling signals, on a busy machine.
const listenTime = time.Second

// Clean returns an error if a process exited after SIGTERM with a status other than 0. A process
// that had hardly started may be killed by the signal itself: it does not handle signals yet, and
// has done nothing.
func (p *Process) Clean() error {
	if exit, ok := errors.AsType[*exec.ExitError](p.Failure()); ok && p.early.Load() {
		if how, ok := exit.Sys().(syscall.WaitStatus); ok && how.Signaled() && how.Signal() == syscall.SIGTERM {
			return nil
		}
	}
	if err := p.Failure(); err != nil && p.told.Load() == int32(syscall.SIGTERM) {
		return fmt.Errorf("the agent, process %d, ended after SIGTERM with: %w", p.PID(), err)
	}
	return nil
}

// Signal sends a signal. An exit after SIGTERM or SIGKILL is not a crash. If the process has
// exited, Signal does nothing.
func (p *Process) Signal(signal syscall.Signal) error {
	select {
	case <-p.ended:
		return nil
	default:
	}
	if (signal == syscall.SIGTERM || signal == syscall.SIGKILL) && p.told.CompareAndSwap(0, int32(signal)) {
		p.early.Store(time.Since(p.begun) < listenTime)
	}
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to the agent: %w", signal, err)
	}
	return nil
}

// Wait waits for a process to exit after Signal. If that takes longer than patience, Wait kills the
// process and returns an error.
func (p *Process) Wait(patience time.Duration) error {
	select {
	case <-p.ended:
		return nil
	case <-time.After(patience):
	}
	err := fmt.Errorf("the agent, process %d, did not end within %s of %s and was killed", p.PID(), patience, syscall.Signal(p.told.Load()))
	if failed := p.command.Process.Kill(); failed != nil && !errors.Is(failed, os.ErrProcessDone) {
		return errors.Join(err, failed)
	}
	<-p.ended
	return err
}

// End sends SIGTERM or SIGKILL and waits. It ignores the exit status, which Clean checks.
func (p *Process) End(signal syscall.Signal, patience time.Duration) error {
	if err := p.Signal(signal); err != nil {
		return err
	}
	return p.Wait(patience)
}

// Stop stops the process as a service manager does. It returns an error unless the process exits
// with status 0, and also if it had crashed before.
func (p *Process) Stop(patience time.Duration) error {
	if err := p.Crashed(); err != nil {
		return err
	}
	if err := p.End(syscall.SIGTERM, patience); err != nil {
		return err
	}
	return p.Clean()
}

// Await calls ready at this interval until it returns no error. If the process exits first, Await
// returns ErrEnded. If ctx is done first, Await returns the last error with the cause.
func (p *Process) Await(ctx context.Context, often time.Duration, ready func(ctx context.Context) error) error {
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-p.ended:
			return p.Gone()
		case <-time.After(often):
		}
	}
}

// logTail returns the last lines of a log.
func logTail(log string, lines int) []string {
	data, err := os.ReadFile(log)
	if err != nil {
		return []string{err.Error()}
	}
	return tail(string(data), lines)
}

func tail(text string, lines int) []string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return all[max(0, len(all)-lines):]
}
