package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/test/harness"
)

// containersIn returns the process IDs of containers in cgroups below a root, by container.
func containersIn(root string) (map[string][]int, error) {
	pids, err := harness.Processes()
	if err != nil {
		return nil, err
	}
	found := map[string][]int{}
	for _, pid := range pids {
		if id := containerOfProcess(pid, root); id != "" {
			found[id] = append(found[id], pid)
		}
	}
	return found, nil
}

// begun leaves out processes in which runc still sets up a container: no process of the container
// itself runs there yet.
func begun(all map[string][]int) map[string][]int {
	own := map[string][]int{}
	for id, pids := range all {
		for _, pid := range pids {
			if !setsUp(harness.Arguments(pid)) {
				own[id] = append(own[id], pid)
			}
		}
	}
	return own
}

// setsUp reports whether the arguments are those of runc in a container, or of a process that has
// exited.
func setsUp(args []string) bool {
	return len(args) == 0 || len(args) == 1 && args[0] == "" || harness.ProgramOf(args) == "runc"
}

func containerOfProcess(pid int, root string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return "" // the process has exited
	}
	return containerOf(string(text), root)
}

// containerOf returns the container that a process belongs to, from the process's list of cgroups.
// A container's cgroup is in the cgroup of its pod, which is in the root or in the cgroup of a QoS
// class.
func containerOf(cgroups, root string) string {
	for line := range strings.Lines(cgroups) {
		_, path, found := strings.Cut(strings.TrimSpace(line), "/"+root+"/")
		if !found {
			continue
		}
		parts := strings.Split(path, "/")
		pod := slices.IndexFunc(parts, func(part string) bool { return strings.HasPrefix(part, "pod") })
		if pod >= 0 && pod+1 < len(parts) {
			return parts[pod+1]
		}
	}
	return ""
}

// killContainerProcesses kills the processes of a container below that root, and no others.
func killContainerProcesses(root, id string) error {
	found, err := containersIn(root)
	if err != nil {
		return err
	}
	for _, pid := range found[id] {
		still := func() bool { return containerOfProcess(pid, root) == id }
		if err := killIf(pid, still); err != nil {
			return err
		}
	}
	return nil
}

// killShimOf kills the shim of a sandbox of that containerd; it is no error if there is none.
func killShimOf(socket, sandbox string) error {
	shims, err := harness.ShimsOf(socket)
	if err != nil {
		return err
	}
	pid, found := shims[sandbox]
	if !found {
		return nil
	}
	return killIf(pid, func() bool { return harness.SandboxOfShim(harness.Arguments(pid), socket) == sandbox })
}

// killIf kills the process if it is still the one that was found, and not another one with the same
// process ID.
func killIf(pid int, still func() bool) error {
	handle, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", pid, err)
	}
	defer func() { _ = unix.Close(handle) }()
	if !still() {
		return nil
	}
	if err := unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	return nil
}
