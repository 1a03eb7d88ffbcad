package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Processes returns the IDs of all processes.
func Processes() ([]int, error) {
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

// Arguments returns the arguments of a process, none if it has exited.
func Arguments(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// ProgramOf returns the base name of the program with these arguments, empty if there are none.
func ProgramOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return filepath.Base(args[0])
}

// ShimsOf returns the process IDs of the shims of the containerd with that socket, by sandbox.
func ShimsOf(socket string) (map[string]int, error) {
	pids, err := Processes()
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	for _, pid := range pids {
		if sandbox := SandboxOfShim(Arguments(pid), socket); sandbox != "" {
			found[sandbox] = pid
		}
	}
	return found, nil
}

// SandboxOfShim returns the sandbox a shim was started for. It is empty if the arguments are not
// those of a shim of the containerd with that socket.
func SandboxOfShim(args []string, socket string) string {
	at := slices.Index(args, "-id")
	if ProgramOf(args) != "containerd-shim-runc-v2" || !slices.Contains(args, socket) || at < 0 || at+1 >= len(args) {
		return ""
	}
	return args[at+1]
}

// Kilobytes finds a line "NAME: 123 kB" in a file of /proc and returns the number of bytes.
func Kilobytes(text, name string) (int64, error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == name+":" && fields[2] == "kB" {
			count, err := strconv.ParseInt(fields[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read %s: %w", name, err)
			}
			return count << 10, nil
		}
	}
	return 0, fmt.Errorf("the kernel does not tell %s", name)
}
