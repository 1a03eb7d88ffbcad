package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// stopTime is how long a program may take to exit by itself.
const stopTime = 10 * time.Second

// process is a started program.
type process struct {
	name string
	cmd  *exec.Cmd
	// ended is closed when the program has exited; err is then its exit error.
	ended chan struct{}
	err   error
}

// start runs a program whose output goes to NAME.log in the directory. The program is killed when
// this process exits.
func start(dir, path string, args ...string) (*process, error) {
	name := filepath.Base(path)
	log, err := os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	p := &process{name: name, cmd: cmd, ended: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		// The kernel kills the program when the thread that started it exits, so this thread must stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.ended)
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w; tools/setup.sh cluster builds it", name, err)
	}
	return p, nil
}

// stop stops the program and waits for its exit; with kill there is no graceful shutdown.
func (p *process) stop(kill bool) {
	signal := syscall.SIGTERM
	if kill {
		signal = syscall.SIGKILL
	}
	_ = p.cmd.Process.Signal(signal)
	select {
	case <-p.ended:
	case <-time.After(stopTime):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// await waits until ready returns no error. If the program exits, or after readyTime, it returns an
// error with the end of the program's log.
func (p *process) await(ctx context.Context, ready func() error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	for {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-p.ended:
			return fmt.Errorf("%s has ended: %w\n%s", p.name, p.err, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready after %s: %w\n%s", p.name, readyTime, err, p.tail())
		}
	}
}

// tail returns the end of the program's log.
func (p *process) tail() string {
	const shown = 4000
	text, err := os.ReadFile(filepath.Join(p.cmd.Dir, p.name+".log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-shown):])
}
