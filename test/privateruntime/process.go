package privateruntime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a running program. Its start time distinguishes it from a later process with the same
// number.
type process struct {
	pid   int
	start string
	args  []string
}

// findProcesses returns the running processes whose arguments match. Zombies have no arguments and
// are left out.
func findProcesses(match func(args []string) bool) ([]process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var found []process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if p, ok := inspectProcess(pid); ok && match(p.args) {
			found = append(found, p)
		}
	}
	return found, nil
}

// inspectProcess reads the arguments and the start time of a process; it returns false if the
// process has exited.
func inspectProcess(pid int) (process, bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	command, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil || len(command) == 0 {
		return process{}, false
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return process{}, false
	}
	start, ok := parseStart(string(stat))
	args := strings.Split(strings.TrimSuffix(string(command), "\x00"), "\x00")
	return process{pid, start, args}, ok
}

// parseStart returns the start time field of /proc/PID/stat, whose second field may contain spaces
// and parentheses.
func parseStart(stat string) (string, bool) {
	const startField, fieldsBefore = 22, 2
	_, rest, ok := cutLast(stat, ")")
	fields := strings.Fields(rest)
	if !ok || len(fields) <= startField-fieldsBefore-1 || fields[0] == "Z" {
		return "", false
	}
	return fields[startField-fieldsBefore-1], true
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

// signal sends a signal to exactly this process, and not to a later one with the same number. If
// the process has exited, that is success.
func (p process) signal(sig unix.Signal) error {
	handle, err := unix.PidfdOpen(p.pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", p.pid, err)
	}
	defer func() { _ = unix.Close(handle) }()
	if !p.alive() {
		return nil
	}
	if err := unix.PidfdSendSignal(handle, sig, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("signal process %d: %w", p.pid, err)
	}
	return nil
}

// alive reports whether exactly this process still runs.
func (p process) alive() bool {
	now, ok := inspectProcess(p.pid)
	return ok && now.start == p.start && slices.Equal(now.args, p.args)
}

// poll is the interval at which conditions without events are checked.
const poll = 10 * time.Millisecond

// waitGone waits until none of the processes runs.
func waitGone(ctx context.Context, processes []process) error {
	return waitUntil(ctx, func() error {
		for _, p := range processes {
			if p.alive() {
				return fmt.Errorf("process %d (%s) still runs", p.pid, p.args[0])
			}
		}
		return nil
	})
}

// final is an error for which waiting longer is useless.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// waitUntil polls a condition until it holds or returns a final error. At the deadline it returns
// the condition's last error.
func waitUntil(ctx context.Context, condition func() error) error {
	for {
		err := condition()
		var stop final
		if err == nil || errors.As(err, &stop) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", err, ctx.Err())
		case <-time.After(poll):
		}
	}
}

// kill terminates processes: it sends SIGTERM if patience is positive, and SIGKILL once patience
// has passed.
func kill(ctx context.Context, processes []process, patience time.Duration) error {
	if patience > 0 {
		if err := signalAll(processes, unix.SIGTERM); err != nil {
			return err
		}
		patient, cancel := context.WithTimeout(ctx, patience)
		err := waitGone(patient, processes)
		cancel()
		if err == nil {
			return nil
		}
	}
	if err := signalAll(processes, unix.SIGKILL); err != nil {
		return err
	}
	return waitGone(ctx, processes)
}

func signalAll(processes []process, sig unix.Signal) error {
	var failed []error
	for _, p := range processes {
		failed = append(failed, p.signal(sig))
	}
	return errors.Join(failed...)
}

// daemons returns the runtime's containerd processes: one, or none after a crash.
func (i instance) daemons() ([]process, error) {
	return findProcesses(func(args []string) bool {
		return filepath.Base(args[0]) == "containerd" && slices.Contains(args, i.configFile())
	})
}

// shims returns the processes that hold the runtime's containers; they outlive containerd.
func (i instance) shims() ([]process, error) {
	return findProcesses(func(args []string) bool {
		return filepath.Base(args[0]) == "containerd-shim-runc-v2" && slices.Contains(args, i.socket())
	})
}

// registries returns the processes of the runtime's registries.
func (i instance) registries() ([]process, error) {
	return findProcesses(func(args []string) bool {
		return filepath.Base(args[0]) == "images" && slices.Contains(args, "serve-registry") && slices.Contains(args, i.network())
	})
}

// daemon is a containerd that this process started. One goroutine waits for its exit and then
// cancels running.
type daemon struct {
	// running is cancelled when containerd exits; its cause is the reason.
	running context.Context
}

// startDaemon starts containerd in a session of its own, so that an interrupt of this process does
// not reach it.
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

// ended returns an error once containerd has exited.
func (d *daemon) ended() error { return context.Cause(d.running) }

// wait waits for the goroutine of a stopped daemon; a nil daemon is one that this process did not
// start.
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

// logTail returns the last lines of containerd's log, for error messages.
func (i instance) logTail(lines int) string {
	data, err := os.ReadFile(i.logFile())
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
