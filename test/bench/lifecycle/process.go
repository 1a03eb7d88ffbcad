package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// endPatience is how long an agent may take to end after SIGTERM.
const endPatience = 20 * time.Second

// process is an agent that runs or ran. One goroutine waits for its end and
// then ends running.
type process struct {
	command *exec.Cmd
	running context.Context
	log     string
}

// startProcess runs a program in a session of its own, so that the terminal's
// signals do not reach it. What it writes is added to the log.
func startProcess(command *exec.Cmd, log string) (*process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	command.Stdout, command.Stderr = file, file
	if command.SysProcAttr == nil {
		command.SysProcAttr = &syscall.SysProcAttr{}
	}
	command.SysProcAttr.Setsid = true
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command.Path, err)
	}
	running, end := context.WithCancelCause(context.Background())
	go func() {
		end(fmt.Errorf("%s has ended: %w", command.Path, errors.Join(command.Wait(), errEnded)))
	}()
	return &process{command, running, log}, nil
}

var errEnded = errors.New("nobody told it to")

func (p *process) pid() int { return p.command.Process.Pid }

// end sends SIGTERM and waits; a process that takes too long is killed, which
// is an error.
func (p *process) end() error {
	if p.running.Err() != nil {
		return nil //nolint:nilerr // it has ended, which is what was asked for
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.running.Done():
		return nil
	case <-time.After(endPatience):
	}
	err := fmt.Errorf("%s did not end within %s and was killed", p.command.Path, endPatience)
	if failed := p.command.Process.Kill(); failed != nil && !errors.Is(failed, os.ErrProcessDone) {
		return errors.Join(err, failed)
	}
	<-p.running.Done()
	return err
}

// tail is the end of the log, for errors.
func (p *process) tail() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
