package kernel

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the kernel's unit of CPU time in /proc, in nanoseconds: USER_HZ is 100 on all platforms.
const tick = 10_000_000

// Machine is what the kernel counts about the whole machine. Sizes are in bytes.
type Machine struct {
	// Total is the memory of the machine, Usage what is in use of it, and WorkingSet the part of Usage
	// that cannot be dropped at once.
	Total, Usage, WorkingSet uint64
	// Anonymous is memory of programs.
	Anonymous           uint64
	SwapTotal, SwapFree uint64
	// PageFaults and MajorPageFaults count since the start; nil if unknown.
	PageFaults, MajorPageFaults *uint64
}

// Available returns the memory that is not in use or can be dropped at once.
func (m *Machine) Available() uint64 { return m.Total - min(m.Total, m.WorkingSet) }

// Memory returns the state of the machine's memory. Like a kubelet, it prefers the counters of the
// root cgroup to those of /proc; only cgroup v1 has them.
func (k *Kernel) Memory() (Machine, error) {
	path := k.proc("meminfo")
	info, err := text(path)
	if err != nil {
		return Machine{}, err
	}
	values := flat(info)
	if values["MemTotal"] == 0 {
		return Machine{}, problem(path, "no MemTotal")
	}
	kib := func(name string) uint64 { return product(values[name], 1<<10) }
	m := Machine{
		Total: kib("MemTotal"), Anonymous: kib("AnonPages"), SwapTotal: kib("SwapTotal"), SwapFree: kib("SwapFree"),
	}
	m.Usage = m.Total - min(m.Total, kib("MemFree"))
	m.WorkingSet = m.Usage - min(m.Usage, kib("Inactive(file)"))
	if root := k.Use("/"); root.WorkingSet() != nil {
		m.Usage, m.WorkingSet = *root.Memory, *root.WorkingSet()
	}
	if faults, err := text(k.proc("vmstat")); err == nil {
		values := flat(faults)
		m.PageFaults, m.MajorPageFaults = value(values, "pgfault"), value(values, "pgmajfault")
	}
	return m, nil
}

// CPU returns the CPU time that the machine has used since its start, in nanoseconds of one core,
// and the time of its start.
func (k *Kernel) CPU() (used uint64, since time.Time, err error) {
	path := k.proc("stat")
	content, err := text(path)
	if err != nil {
		return 0, time.Time{}, err
	}
	used, since, ok := parseStat(content)
	if !ok {
		return 0, time.Time{}, problem(path, `no line "cpu"`)
	}
	return used, since, nil
}

// parseStat parses /proc/stat. The time of the start is zero if it is not there.
func parseStat(text string) (used uint64, since time.Time, ok bool) {
	for _, fields := range list(text) {
		switch fields[0] {
		case "cpu":
			// user nice system idle iowait irq softirq steal; guests are counted in user.
			for i, field := range fields[1:] {
				const idle, iowait, steal = 3, 4, 7
				n, err := strconv.ParseUint(field, 10, 64)
				if err != nil || i > steal {
					break
				}
				if i != idle && i != iowait {
					used += product(n, tick)
				}
			}
			ok = len(fields) > 4
		case "btime":
			if seconds, err := strconv.ParseInt(fields[len(fields)-1], 10, 64); err == nil && seconds > 0 {
				since = time.Unix(seconds, 0)
			}
		}
	}
	return used, since, ok
}

// Tasks returns the number of processes and threads, and how many there may be.
func (k *Kernel) Tasks() (now, most int64, err error) {
	path := k.proc("loadavg")
	load, err := text(path)
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(load)
	if len(fields) < 4 {
		return 0, 0, problem(path, "it has fewer than 4 fields")
	}
	_, all, _ := strings.Cut(fields[3], "/")
	if now, err = strconv.ParseInt(all, 10, 64); err != nil {
		return 0, 0, problem(path, "the number of tasks is "+strconv.Quote(all))
	}
	for _, name := range []string{"sys/kernel/pid_max", "sys/kernel/threads-max"} {
		content, err := text(k.proc(name))
		if err != nil {
			return 0, 0, err
		}
		n, err := strconv.ParseInt(strings.TrimSpace(content), 10, 64)
		if err != nil {
			return 0, 0, problem(k.proc(name), err.Error())
		}
		if most == 0 || n < most {
			most = n
		}
	}
	return now, most, nil
}

// DeviceName returns the path of a block device with a number such as "8:0", as cAdvisor names it; the
// number if the kernel does not name the device.
func (k *Kernel) DeviceName(number string) string {
	content, err := text(filepath.Join(k.root, "sys/dev/block", number, "uevent"))
	if err != nil {
		return number
	}
	for line := range strings.Lines(content) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "DEVNAME="); ok && name != "" {
			return "/dev/" + name
		}
	}
	return number
}
