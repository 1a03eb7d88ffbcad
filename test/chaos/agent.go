package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// farewell is how long an agent may take to end after SIGTERM, in which it finishes its calls to the runtime.
const farewell = 20 * time.Second

// agent is a process. One goroutine waits for its end, and then closes ended.
type agent struct {
	command *exec.Cmd
	ended   chan struct{}
	// err is how it ended, once ended is closed.
	err error
	// told is the signal that somebody ended it with first, 0 while nobody did.
	told atomic.Int32
}

// startAgentProcess runs the agent in a session of its own, where no signal of the terminal reaches it; it ends with this
// process. Its output is added to the log.
func startAgentProcess(log, program string, args ...string) (*agent, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the agent's log: %w", err)
	}
	defer file.Close()
	a := &agent{command: exec.Command(program, args...), ended: make(chan struct{})}
	a.command.Stdout, a.command.Stderr = file, file
	a.command.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	a.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		defer close(a.ended)
		runtime.LockOSThread() // it ends with the thread that started it
		defer runtime.UnlockOSThread()
		err := a.command.Start()
		if started <- err; err == nil {
			a.err = a.command.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	return a, nil
}

func (a *agent) pid() int { return a.command.Process.Pid }

// crashed is how an agent ended that nobody had told to; nil if it did not.
func (a *agent) crashed() error {
	select {
	case <-a.ended:
		if a.told.Load() == 0 {
			return fmt.Errorf("the agent, process %d, ended by itself: %w", a.pid(), errors.Join(a.err, errors.New(a.command.ProcessState.String())))
		}
	default:
	}
	return nil
}

// kill ends it at once.
func (a *agent) kill() error { return a.end(syscall.SIGKILL) }

// stop ends it as a service manager does; anything but a clean end is an error.
func (a *agent) stop() error { return a.end(syscall.SIGTERM) }

func (a *agent) end(signal syscall.Signal) error {
	if err := a.tell(signal); err != nil {
		return err
	}
	return a.gone()
}

// tell sends a signal that is to end it. One that has ended is told nothing.
func (a *agent) tell(signal syscall.Signal) error {
	a.told.CompareAndSwap(0, int32(signal))
	if err := a.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end the agent: %w", err)
	}
	return nil
}

// gone waits for an agent that was told to end. After SIGTERM it must end in time, and cleanly.
func (a *agent) gone() error {
	select {
	case <-a.ended:
		if a.told.Load() == int32(syscall.SIGTERM) && a.err != nil {
			return fmt.Errorf("the agent, process %d, ended after SIGTERM with: %w", a.pid(), a.err)
		}
		return nil
	case <-time.After(farewell):
	}
	err := fmt.Errorf("the agent, process %d, did not end within %s of signal %d", a.pid(), farewell, a.told.Load())
	if failed := a.command.Process.Kill(); failed != nil && !errors.Is(failed, os.ErrProcessDone) {
		return errors.Join(err, failed)
	}
	<-a.ended
	return err
}
