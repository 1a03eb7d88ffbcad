package main

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

// processes gives the numbers of all processes.
func processes() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// containersIn gives the processes of containers in cgroups below a root, by container.
func containersIn(root string) (map[string][]int, error) {
	pids, err := processes()
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

// begun leaves out processes in which runc still makes a container: nothing of the container's own runs there yet.
func begun(all map[string][]int) map[string][]int {
	own := map[string][]int{}
	for id, pids := range all {
		for _, pid := range pids {
			if !setsUp(arguments(pid)) {
				own[id] = append(own[id], pid)
			}
		}
	}
	return own
}

// setsUp reports whether the arguments are those of runc in a container, or of a process that has ended.
func setsUp(args []string) bool {
	return len(args) == 0 || len(args) == 1 && args[0] == "" || program(args) == "runc"
}

func containerOfProcess(pid int, root string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return "" // it has ended
	}
	return containerOf(string(text), root)
}

// containerOf reads from a process's list of cgroups which container it belongs to: its directory lies in that of its pod,
// which lies in the root or in a directory of a class of pods.
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

// killContainerProcesses kills what runs in a container, below that root and nothing else.
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

// shimsOf are the shims that serve the containerd of that socket, by sandbox.
func shimsOf(socket string) (map[string]int, error) {
	pids, err := processes()
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	for _, pid := range pids {
		if sandbox := sandboxOfShim(arguments(pid), socket); sandbox != "" {
			found[sandbox] = pid
		}
	}
	return found, nil
}

func arguments(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// sandboxOfShim is the sandbox a shim was started for, empty for what is no shim of the containerd of that socket.
func sandboxOfShim(args []string, socket string) string {
	at := slices.Index(args, "-id")
	if program(args) != "containerd-shim-runc-v2" || !slices.Contains(args, socket) || at < 0 || at+1 >= len(args) {
		return ""
	}
	return args[at+1]
}

// killShimOf kills the shim of a sandbox of that containerd; none is no error.
func killShimOf(socket, sandbox string) error {
	shims, err := shimsOf(socket)
	if err != nil {
		return err
	}
	pid, found := shims[sandbox]
	if !found {
		return nil
	}
	return killIf(pid, func() bool { return sandboxOfShim(arguments(pid), socket) == sandbox })
}

// killIf kills the process if it still is who it was found as, and no other that got its number.
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

// program is the base name of what runs, empty for a process that has none.
func program(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return filepath.Base(args[0])
}
