package kernel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// useV1 reads CPU time and memory of a cgroup v1.
func (k *Kernel) useV1(cgroup string, c *Cgroup) {
	accounting := reader(k.controllers["cpuacct"], cgroup)
	c.CPU, c.User, c.System = number(accounting("cpuacct.usage")), number(accounting("cpuacct.usage_user")), number(accounting("cpuacct.usage_sys"))
	if c.User == nil {
		ticks := flat(accounting("cpuacct.stat"))
		c.User, c.System = scaled(value(ticks, "user"), tick), scaled(value(ticks, "system"), tick)
	}
	throttling := flat(reader(k.controllers["cpu"], cgroup)("cpu.stat"))
	c.Periods, c.Throttled, c.ThrottledTime = value(throttling, "nr_periods"), value(throttling, "nr_throttled"), value(throttling, "throttled_time")

	read := reader(k.controllers["memory"], cgroup)
	memory := flat(read("memory.stat"))
	total := func(name string) *uint64 { return cmp.Or(value(memory, "total_"+name), value(memory, name)) }
	c.Memory, c.MemoryLimit = number(read("memory.usage_in_bytes")), limit(read("memory.limit_in_bytes"))
	c.Resident, c.Cache, c.Inactive, c.Mapped = total("rss"), total("cache"), total("inactive_file"), total("mapped_file")
	c.PageFaults, c.MajorPageFaults, c.Swap = total("pgfault"), total("pgmajfault"), total("swap")
	if both := limit(read("memory.memsw.limit_in_bytes")); both != nil && c.MemoryLimit != nil {
		c.SwapLimit = new(*both - min(*both, *c.MemoryLimit))
	}
}

// restV1 reads the other counters of a cgroup v1, which has no pressure.
func (k *Kernel) restV1(cgroup string, c *Cgroup) {
	memory := reader(k.controllers["memory"], cgroup)
	c.Peak, c.LimitHits = number(memory("memory.max_usage_in_bytes")), number(memory("memory.failcnt"))
	c.OOMKills = value(flat(memory("memory.oom_control")), "oom_kill")
	if processes := reader(k.point(), cgroup)("cgroup.procs"); processes != "" {
		c.Processes = lines(processes)
	}
	pids := reader(k.controllers["pids"], cgroup)
	c.Tasks, c.TasksLimit = number(pids("pids.current")), limit(pids("pids.max"))
	share := reader(k.controllers["cpu"], cgroup)
	c.Shares, c.Quota, c.Period = number(share("cpu.shares")), number(share("cpu.cfs_quota_us")), number(share("cpu.cfs_period_us"))
	block := reader(k.controllers["blkio"], cgroup)
	first := func(file string) string { return cmp.Or(block(file+"_recursive"), block(file)) }
	c.Devices = parseBlock(first("blkio.throttle.io_service_bytes"), first("blkio.throttle.io_serviced"))
}

// parseBlock parses the two files of blkio: lines of a device, an operation and a number.
func parseBlock(bytes, operations string) (devices []Device) {
	of := func(number string) *Device {
		if i := slices.IndexFunc(devices, func(d Device) bool { return d.Number == number }); i >= 0 {
			return &devices[i]
		}
		devices = append(devices, Device{Number: number})
		return &devices[len(devices)-1]
	}
	each := func(text string, set func(d *Device, write bool, n uint64)) {
		for _, fields := range list(text) {
			if len(fields) < 3 || !isDevice(fields[0]) {
				continue
			}
			n, err := strconv.ParseUint(fields[2], 10, 64)
			if operation := strings.ToLower(fields[1]); err == nil && (operation == "read" || operation == "write") {
				set(of(fields[0]), operation == "write", n)
			}
		}
	}
	each(bytes, func(d *Device, write bool, n uint64) {
		if write {
			d.WrittenBytes = n
		} else {
			d.ReadBytes = n
		}
	})
	each(operations, func(d *Device, write bool, n uint64) {
		if write {
			d.Writes = n
		} else {
			d.Reads = n
		}
	})
	return devices
}
