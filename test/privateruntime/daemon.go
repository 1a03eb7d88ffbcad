package privateruntime

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// daemon is a containerd that this process started. One goroutine waits for its exit and then ends running.
type daemon struct {
	// running ends with containerd; its cause tells why.
	running context.Context
}

// startDaemon starts containerd in a session of its own, so that what interrupts this process leaves it alone.
func startDaemon(i instance, found programs) (*daemon, error) {
	log, err := os.OpenFile(i.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open containerd's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	command := exec.Command(found.containerd, "--config", i.configFile())
	command.Stdout, command.Stderr = log, log
	command.Dir = "/"
	command.Env = append(os.Environ(), "PATH="+filepath.Dir(found.containerd)+":"+os.Getenv("PATH")+":"+systemPath)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start containerd: %w; %s", err, advice)
	}
	running, end := context.WithCancelCause(context.Background())
	go func() {
		end(fmt.Errorf("containerd ended: %w", errorOr(command.Wait(), io.EOF)))
	}()
	return &daemon{running}, nil
}

// ended returns an error once containerd is no more.
func (d *daemon) ended() error { return context.Cause(d.running) }

// wait waits for the goroutine of a daemon that was ended; nil is a daemon this process did not start.
func (d *daemon) wait(ctx context.Context) error {
	if d == nil {
		return nil
	}
	select {
	case <-d.running.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for containerd's end: %w", ctx.Err())
	}
}

func errorOr(err, otherwise error) error {
	if err == nil {
		return otherwise
	}
	return err
}

// logTail returns the last lines of containerd's log, for errors.
func (i instance) logTail(lines int) string {
	data, err := os.ReadFile(i.logFile())
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
