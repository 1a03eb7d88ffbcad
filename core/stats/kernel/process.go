package kernel

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// Process is what the kernel counts about one process.
type Process struct {
	// CPU is in nanoseconds.
	CPU uint64
	// Memory is the memory in RAM, in bytes.
	Memory                      uint64
	PageFaults, MajorPageFaults uint64
	// Started is the time between the start of the machine and the start of the process.
	Started time.Duration
}

// Process returns the counters of a process.
func (k *Kernel) Process(pid int) (Process, error) {
	path := k.proc(strconv.Itoa(pid) + "/stat")
	content, err := text(path)
	if err != nil {
		return Process{}, err
	}
	p, ok := parseProcess(content, uint64(os.Getpagesize()))
	if !ok {
		return Process{}, problem(path, "it has fewer than 24 fields")
	}
	return p, nil
}

// CgroupOf returns the cgroup of a process in the hierarchy of cgroup v2, empty if there is none or
// the process has ended.
func (k *Kernel) CgroupOf(pid int) string {
	content, err := text(k.proc(strconv.Itoa(pid) + "/cgroup"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(content) {
		if path, unified := strings.CutPrefix(line, "0::"); unified {
			return strings.TrimSuffix(path, "\n")
		}
	}
	return ""
}

// The numbers of fields in /proc/PID/stat, proc_pid_stat(5), counted from the third, the state.
const (
	fieldMinorFaults = 10 - 3
	fieldMajorFaults = 12 - 3
	fieldUser        = 14 - 3
	fieldSystem      = 15 - 3
	fieldStart       = 22 - 3
	fieldResident    = 24 - 3
)

// parseProcess parses /proc/PID/stat. The name of the program, in parentheses, may contain
// anything.
func parseProcess(text string, page uint64) (Process, bool) {
	end := strings.LastIndexByte(text, ')')
	if end < 0 {
		return Process{}, false
	}
	fields := strings.Fields(text[end+1:])
	if len(fields) <= fieldResident {
		return Process{}, false
	}
	valid := true
	at := func(i int) uint64 {
		n, err := strconv.ParseUint(fields[i], 10, 64)
		valid = valid && err == nil
		return n
	}
	user, system := at(fieldUser), at(fieldSystem)
	p := Process{
		CPU: product(user+system, tick), Memory: product(at(fieldResident), page),
		PageFaults: at(fieldMinorFaults), MajorPageFaults: at(fieldMajorFaults),
		Started: time.Duration(min(product(at(fieldStart), tick), 1<<62)),
	}
	return p, valid
}
