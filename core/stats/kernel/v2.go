package kernel

import (
	"strconv"
	"strings"

	"github.com/wardlet/wardlet/core/internal/cpu"
)

// useV2 reads CPU time and memory of a cgroup v2.
func (k *Kernel) useV2(cgroup string, c *Cgroup) {
	read := reader(k.unified, cgroup)
	times := flat(read("cpu.stat"))
	c.CPU, c.User, c.System = scaled(value(times, "usage_usec"), 1000), scaled(value(times, "user_usec"), 1000), scaled(value(times, "system_usec"), 1000)
	c.Periods, c.Throttled, c.ThrottledTime = value(times, "nr_periods"), value(times, "nr_throttled"), scaled(value(times, "throttled_usec"), 1000)

	memory := flat(read("memory.stat"))
	c.Memory, c.MemoryLimit = number(read("memory.current")), limit(read("memory.max"))
	c.Resident, c.Cache, c.Inactive, c.Mapped = value(memory, "anon"), value(memory, "file"), value(memory, "inactive_file"), value(memory, "file_mapped")
	c.PageFaults, c.MajorPageFaults = value(memory, "pgfault"), value(memory, "pgmajfault")
	c.Swap, c.SwapLimit = number(read("memory.swap.current")), limit(read("memory.swap.max"))
}

// restV2 reads the other counters of a cgroup v2.
func (k *Kernel) restV2(cgroup string, c *Cgroup) {
	read := reader(k.unified, cgroup)
	events := flat(read("memory.events"))
	c.Peak, c.LimitHits, c.OOMKills = number(read("memory.peak")), value(events, "max"), value(events, "oom_kill")
	if processes := read("cgroup.procs"); processes != "" {
		c.Processes = lines(processes)
	}
	c.Tasks, c.TasksLimit = number(read("pids.current")), limit(read("pids.max"))
	if weight := number(read("cpu.weight")); weight != nil && *weight >= 1 && *weight <= 10_000 {
		c.Shares = new(uint64(cpu.SharesOfWeight(int64(*weight))))
	}
	if quota, period, ok := strings.Cut(strings.TrimSpace(read("cpu.max")), " "); ok {
		c.Quota, c.Period = number(quota), number(period)
	}
	c.Devices = parseIO(read("io.stat"))
	at := func(file string) *Pressure { return parsePressure(read(file)) }
	c.CPUPressure, c.MemoryPressure, c.IOPressure = at("cpu.pressure"), at("memory.pressure"), at("io.pressure")
}

// parseIO parses io.stat.
func parseIO(text string) (devices []Device) {
	for _, fields := range list(text) {
		d := Device{Number: fields[0]}
		if !isDevice(d.Number) {
			continue
		}
		for _, field := range fields[1:] {
			name, value, _ := strings.Cut(field, "=")
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				continue
			}
			switch name {
			case "rbytes":
				d.ReadBytes = n
			case "wbytes":
				d.WrittenBytes = n
			case "rios":
				d.Reads = n
			case "wios":
				d.Writes = n
			}
		}
		devices = append(devices, d)
	}
	return devices
}

// isDevice reports whether text is the number of a device, such as "8:0".
func isDevice(text string) bool {
	major, minor, ok := strings.Cut(text, ":")
	return ok && number(major) != nil && number(minor) != nil
}
