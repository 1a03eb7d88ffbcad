package eviction

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

var errNoController = errors.New("its cgroup controller is not mounted")

// rootWorkingSet returns how much of the machine's memory is in use and cannot be reclaimed at once,
// in bytes, as a kubelet computes it: without the file cache that was not used lately.
func (m *Machine) rootWorkingSet() (int64, error) {
	dir := m.cfg.Cgroups.Mount("memory")
	if dir == "" {
		return 0, errNoController
	}
	used, err := workingSet(dir, m.cfg.Cgroups.V2())
	if !errors.Is(err, fs.ErrNotExist) || !m.cfg.Cgroups.V2() {
		return used, err
	}
	// The root cgroup of version 2 has no memory.current.
	stat, err := memoryStat(dir)
	if err != nil {
		return 0, err
	}
	return max(stat["anon"]+stat["file"]-stat["inactive_file"], 0), nil
}

// workingSet returns the memory that a cgroup uses without its inactive file cache, in bytes.
func workingSet(dir string, v2 bool) (int64, error) {
	usage, inactive := "memory.usage_in_bytes", "total_inactive_file"
	if v2 {
		usage, inactive = "memory.current", "inactive_file"
	}
	used, err := number(filepath.Join(dir, usage))
	if err != nil {
		return 0, err
	}
	stat, err := memoryStat(dir)
	if err != nil {
		return 0, err
	}
	return max(used-stat[inactive], 0), nil
}

// memoryStat reads memory.stat of a cgroup.
func memoryStat(dir string) (map[string]int64, error) {
	path := filepath.Join(dir, "memory.stat")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	stat := map[string]int64{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is no key with a number", path, strings.TrimSpace(line))
		}
		stat[key] = n
	}
	return stat, nil
}

// number reads a file with one number.
func number(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: want a number, found %.80q", path, text)
	}
	return n, nil
}

// freePIDs returns how many tasks the kernel still accepts, and how many it accepts at all. Threads
// are tasks, too.
func freePIDs(proc string) (free, most int64, err error) {
	ids, idErr := number(filepath.Join(proc, "sys/kernel/pid_max"))
	threads, threadErr := number(filepath.Join(proc, "sys/kernel/threads-max"))
	switch {
	case idErr != nil && threadErr != nil:
		return 0, 0, errors.Join(idErr, threadErr)
	case idErr != nil:
		most = threads
	case threadErr != nil:
		most = ids
	default:
		most = min(ids, threads)
	}
	path := filepath.Join(proc, "loadavg")
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, err
	}
	// For example "1.36 3.49 4.53 2/3518 3715089": 2 of 3518 tasks run.
	fields := strings.Fields(string(text))
	if len(fields) < 5 {
		return 0, 0, fmt.Errorf("%s: want five fields, found %.80q", path, text)
	}
	_, all, _ := strings.Cut(fields[3], "/")
	tasks, err := strconv.ParseInt(all, 10, 64)
	if err != nil {
		return 0, 0, fmt.Errorf("%s: want a number of tasks, found %.80q", path, fields[3])
	}
	return max(most-tasks, 0), most, nil
}
