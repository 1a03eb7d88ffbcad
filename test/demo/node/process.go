package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// ErrEnded reports that the agent ended without being told to.
var ErrEnded = errors.New("the agent ended by itself")

// process is an agent that runs or ran. One goroutine waits for its end and then ends running.
type process struct {
	command *exec.Cmd
	running context.Context
}

// startProcess runs a program in a session of its own, so that the terminal's signals do not reach it. Its output is
// added to the log file.
func startProcess(log, program string, args ...string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the agent's log: %w", err)
	}
	defer file.Close()
	command := exec.Command(program, args...)
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the agent: %w", err)
	}
	running, end := context.WithCancelCause(context.Background())
	go func() {
		err := command.Wait()
		end(fmt.Errorf("%w: %v", ErrEnded, cause(err, command.ProcessState)))
	}()
	return &process{command, running}, nil
}

// cause is how a process ended, in words.
func cause(err error, state *os.ProcessState) string {
	if err != nil {
		return err.Error()
	}
	return state.String()
}

// ended is an error once the process is no more.
func (p *process) ended() error { return context.Cause(p.running) }

// end sends the signal and waits; a process that takes longer than patience is killed, which is an error.
func (p *process) end(signal syscall.Signal, patience time.Duration) error {
	if p.running.Err() != nil {
		return nil //nolint:nilerr // it has ended, which is what was asked for
	}
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end the agent: %w", err)
	}
	select {
	case <-p.running.Done():
		return nil
	case <-time.After(patience):
	}
	err := fmt.Errorf("the agent did not end within %s of %s and was killed", patience, signal)
	if failed := p.command.Process.Kill(); failed != nil && !errors.Is(failed, os.ErrProcessDone) {
		return errors.Join(err, failed)
	}
	<-p.running.Done()
	return err
}
