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

// ErrEnded reports that the agent ended without being told to.
var ErrEnded = errors.New("the agent ended by itself")

// QuickEnd has a process with the race detector end when it is done. Otherwise it lingers for a second, and every command
// is such a process.
const QuickEnd = "GORACE=atexit_sleep_ms=0"

// Process is an agent that runs or ran. One goroutine waits for its end, and then closes ended.
type Process struct {
	command *exec.Cmd
	ended   chan struct{}
	// err is how it ended, once ended is closed.
	err error
	// begun is when it was started.
	begun time.Time
	// told is the signal that ended it first, 0 for none; early is whether it had hardly begun then.
	told  atomic.Int32
	early atomic.Bool
}

// StartProcess starts a command in a session of its own, where no signal of the terminal reaches it; it ends with this
// process. Its output is added to the log file.
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
		runtime.LockOSThread() // it ends with the thread that started it
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

// PID is the number of the process.
func (p *Process) PID() int { return p.command.Process.Pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Failure is how the process ended, as exec.Cmd.Wait says; nil while it runs.
func (p *Process) Failure() error {
	select {
	case <-p.ended:
		return p.err
	default:
		return nil
	}
}

// Gone is ErrEnded, with how, once the process is no more; nil while it runs.
func (p *Process) Gone() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%w: process %d: %s", ErrEnded, p.PID(), p.command.ProcessState)
	default:
		return nil
	}
}

// Crashed is Gone for a process that no signal of Signal ended; nil for others.
func (p *Process) Crashed() error {
	if p.told.Load() != 0 {
		return nil
	}
	return p.Gone()
}

// listenTime is how long a process may take until it listens for signals, on a busy machine.
const listenTime = time.Second

// Clean is an error for a process that ended after SIGTERM with another exit status than 0. One that
// had hardly begun may end by the signal itself: it does not listen yet, and has done nothing.
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

// Signal sends a signal. After SIGTERM and SIGKILL an end is no crash. To a process that has ended nothing is sent.
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

// Wait waits for a process that Signal is to end. One that takes longer than patience is killed, which is an error.
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

// End sends SIGTERM or SIGKILL and waits. How the process ends does not matter: Clean tells it.
func (p *Process) End(signal syscall.Signal, patience time.Duration) error {
	if err := p.Signal(signal); err != nil {
		return err
	}
	return p.Wait(patience)
}

// Stop ends the process as a service manager does. Anything but a clean end, as a crash before, is an error.
func (p *Process) Stop(patience time.Duration) error {
	if err := p.Crashed(); err != nil {
		return err
	}
	if err := p.End(syscall.SIGTERM, patience); err != nil {
		return err
	}
	return p.Clean()
}

// Await waits until ready returns no error, and calls it so often. If the process ends first, Await returns ErrEnded; if
// ctx is over, the last error with the cause of that.
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

// logTail is the end of a log.
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
