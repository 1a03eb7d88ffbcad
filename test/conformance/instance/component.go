package instance

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Component is a process of the control plane that was killed: "etcd", "apiserver", "kcm" or "sched".
type Component struct {
	Name string

	dir  string
	args []string
	// cwd is the working directory, from which the process reads its keys.
	cwd string
}

// KillComponent kills a process of the control plane. An API server that was asked to end would wait
// for its watches.
func (i *Instance) KillComponent(name string) (*Component, error) {
	pid, err := i.pid(name)
	if err != nil {
		return nil, err
	}
	args, failed := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err := errors.Join(failed, err); err != nil {
		return nil, err
	}
	return &Component{name, i.Dir, strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00"), cwd}, i.kill(name)
}

// Start starts the component again, and records its process for down.sh.
func (c *Component) Start() error {
	log, err := os.OpenFile(filepath.Join(c.dir, c.Name+".log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.cwd, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // it ends with Down, or with KillComponent
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
	if err != nil {
		return err
	}
	const startTime = 22 - 3 // the field, counted from the one after the name
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return os.WriteFile(filepath.Join(c.dir, c.Name+".pid"), fmt.Appendf(nil, "%d %s\n", cmd.Process.Pid, fields[startTime]), 0o644)
}

// RestartComponent kills a process of the control plane and starts it again.
func (i *Instance) RestartComponent(name string) error {
	c, err := i.KillComponent(name)
	if err != nil {
		return err
	}
	return c.Start()
}
