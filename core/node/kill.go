package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// processes returns the IDs of the processes in one cgroup.
func processes(dir string) ([]string, error) {
	procs, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil, nil // just removed, or a group of threads; rmdir will tell
	}
	return strings.Fields(string(procs)), err
}

// kill kills the processes of a cgroup.
func (c *Cgroups) kill(dir string, pids []string) error {
	var failed []error
	for _, name := range pids {
		pid, err := strconv.Atoi(name)
		if err != nil || pid <= 1 {
			continue // a process of another PID namespace is listed as 0
		}
		still := func() bool {
			now, err := processes(dir)
			return err == nil && slices.Contains(now, name)
		}
		if err := c.files.kill(pid, still); err != nil {
			failed = append(failed, fmt.Errorf("kill process %d: %w", pid, err))
		}
	}
	return errors.Join(failed...)
}

func killProcess(pid int, still func() bool) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if !still() {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}
