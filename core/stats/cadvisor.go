package stats

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/wardlet/wardlet/core/stats/kernel"
)

// Cadvisor returns the handler of /metrics/cadvisor.
func (s *Stats) Cadvisor() http.Handler { return s.scrapes(s.collectCadvisor) }

func (s *Stats) collectCadvisor(ctx context.Context, out series) {
	r, err := s.Detailed(ctx)
	if err == nil {
		err = r.Failed
	}
	if err != nil {
		s.cfg.Logger.Warn("the resources of the node are not measured", "err", err)
		out.add(&cadvisorError, time.Time{}, 1)
		return
	}
	out.add(&cadvisorError, time.Time{}, 0)
	out.add(&machineCPUs, time.Time{}, float64(s.cfg.CPUs))
	out.add(&machineMemory, time.Time{}, float64(r.Memory))
	if r.Node.Swap != nil {
		out.maybe(&machineSwap, time.Time{}, added(r.Node.Swap.SwapAvailableBytes, r.Node.Swap.SwapUsageBytes), 1)
	}
	names := map[string]string{}
	device := func(number string) string {
		if _, known := names[number]; !known {
			names[number] = s.cfg.Kernel.DeviceName(number)
		}
		return names[number]
	}
	cadvisorNode(r, out, device)
	for i := range r.Pods {
		s.cadvisorPod(&r.Pods[i], r.At, out, device)
	}
}

// cadvisorNode adds the series of the whole machine. Its processes are those of the root cgroup alone,
// as in cAdvisor. device is like that of cadvisorPod.
func cadvisorNode(r *Reading, out series, device func(number string) string) {
	group := &scope{series: out, at: r.At, labels: []string{"", rootCgroup, "", "", "", ""}}
	group.processor(r.Node.CPU, &r.Kernel)
	group.ram(r.Node.Memory, r.Node.Swap, &r.Kernel)
	group.io(r.Kernel.Devices, device)
	group.network(r.Interfaces, nil)
	group.maybe(&processes, r.Kernel.Processes, 1)
	if limit := r.Node.Rlimit; limit != nil {
		group.add(&threads, float64(*limit.NumOfRunningProcesses))
		group.add(&threadsMax, float64(*limit.MaxPID))
	}
	for _, number := range slices.Sorted(maps.Keys(r.Disks)) {
		group.disk(r.Disks[number], r.Disks[number].UsedBytes, device(number))
	}
}

// cadvisorPod adds the series of a pod: those of its cgroup have no container, those of its network
// have the sandbox as name. device returns the name of a block device.
func (s *Stats) cadvisorPod(p *Pod, at time.Time, out series, device func(number string) string) {
	name, namespace := p.Stats.PodRef.Name, p.Stats.PodRef.Namespace
	group := &scope{series: out, at: at, labels: []string{"", cgroupOr(p.Cgroup, p.Stats.PodRef.UID), "", "", namespace, name}}
	group.all(p.Stats.CPU, p.Stats.Memory, p.Stats.Swap, &p.Kernel, device)
	sandbox := &scope{series: out, at: at, labels: []string{"", cgroupOr(p.SandboxCgroup, p.Sandbox), "", p.Sandbox, namespace, name}}
	sandbox.network(p.Interfaces, p.Stats.Network)
	for i := range p.Containers {
		c := &p.Containers[i]
		one := &scope{series: out, at: at, labels: []string{c.Stats.Name, cgroupOr(c.Cgroup, c.ID), c.Image, c.ID, namespace, name}}
		one.all(c.Stats.CPU, c.Stats.Memory, c.Stats.Swap, &c.Kernel, device)
		if start := c.Stats.StartTime.Time; start.Unix() > 0 {
			one.add(&cadvisorStart, float64(start.UnixNano())/second)
		}
		one.add(&cadvisorSeen, float64(at.Unix()))
		if fs := c.Stats.Rootfs; fs != nil {
			one.disk(fs, added(fs.UsedBytes, c.Stats.Logs.UsedBytes), "")
		}
	}
}

// cgroupOr returns a cgroup, or one that is named by an ID if it is unknown: the label id must not be
// empty.
func cgroupOr(cgroup, id string) string {
	if cgroup == "" {
		return rootCgroup + id
	}
	return cgroup
}

func value(n *uint64) float64 {
	if n == nil {
		return 0
	}
	return float64(*n)
}

// scope adds series with the same labels: container, id, image, name, namespace and pod.
type scope struct {
	series series
	at     time.Time
	labels []string
}

func (s *scope) with(more []string) []string {
	return slices.Concat(s.labels, more)
}

func (s *scope) add(f *family, value float64, more ...string) {
	s.series.add(f, s.at, value, s.with(more)...)
}

func (s *scope) maybe(f *family, value *uint64, unit float64, more ...string) {
	s.series.maybe(f, s.at, value, unit, s.with(more)...)
}

func (s *scope) all(c *statsapi.CPUStats, m *statsapi.MemoryStats, w *statsapi.SwapStats, k *kernel.Cgroup, device func(number string) string) {
	s.processor(c, k)
	s.ram(m, w, k)
	s.specification(k)
	s.maybe(&processes, k.Processes, 1)
	s.maybe(&threads, k.Tasks, 1)
	s.maybe(&threadsMax, k.TasksLimit, 1)
	s.io(k.Devices, device)
}

func (s *scope) io(devices []kernel.Device, device func(number string) string) {
	for i := range devices {
		d := &devices[i]
		name := device(d.Number)
		s.add(&fsReadBytes, float64(d.ReadBytes), name)
		s.add(&fsWriteBytes, float64(d.WrittenBytes), name)
		s.add(&fsReads, float64(d.Reads), name)
		s.add(&fsWrites, float64(d.Writes), name)
	}
}

// disk adds a file system; used is how many of its bytes are in use.
func (s *scope) disk(fs *statsapi.FsStats, used *uint64, device string) {
	s.add(&fsUsage, value(used), device)
	s.maybe(&fsLimit, fs.CapacityBytes, 1, device)
	s.maybe(&fsInodes, fs.Inodes, 1, device)
	s.maybe(&fsInodesFree, fs.InodesFree, 1, device)
}

// processor adds CPU times. Those of the statistics have the time when the runtime read them.
func (s *scope) processor(c *statsapi.CPUStats, k *kernel.Cgroup) {
	if c != nil {
		s.series.maybe(&cpuTime, c.Time.Time, c.UsageCoreNanoSeconds, second, s.with([]string{"total"})...)
	}
	s.maybe(&cpuUser, k.User, second)
	s.maybe(&cpuSystem, k.System, second)
	if k.Quota != nil { // as in cAdvisor
		s.maybe(&cpuPeriods, k.Periods, 1)
		s.maybe(&cpuThrottled, k.Throttled, 1)
		s.maybe(&cpuThrottledTime, k.ThrottledTime, second)
	}
	s.pressure(k.CPUPressure, &cpuWaiting, &cpuStalled)
	s.pressure(k.MemoryPressure, &memoryWaiting, &memoryStalled)
	s.pressure(k.IOPressure, &ioWaiting, &ioStalled)
}

func (s *scope) pressure(p *kernel.Pressure, waiting, stalled *family) {
	if p != nil {
		s.add(waiting, float64(p.Some.Total)/second)
		s.add(stalled, float64(p.Full.Total)/second)
	}
}

func (s *scope) ram(m *statsapi.MemoryStats, w *statsapi.SwapStats, k *kernel.Cgroup) {
	if m != nil {
		s.series.maybe(&memoryWorking, m.Time.Time, m.WorkingSetBytes, 1, s.labels...)
		s.series.maybe(&memoryUsage, m.Time.Time, m.UsageBytes, 1, s.labels...)
		s.series.maybe(&memoryRSS, m.Time.Time, m.RSSBytes, 1, s.labels...)
		s.maybe(&memoryFailures, m.PageFaults, 1, "pgfault", "container")
		s.maybe(&memoryFailures, m.MajorPageFaults, 1, "pgmajfault", "container")
	}
	if w != nil {
		s.maybe(&memorySwap, w.SwapUsageBytes, 1)
	}
	s.maybe(&memoryCache, k.Cache, 1)
	s.maybe(&memoryMapped, k.Mapped, 1)
	s.maybe(&memoryPeak, k.Peak, 1)
	s.maybe(&memoryFailcnt, k.LimitHits, 1)
	s.maybe(&oomEvents, k.OOMKills, 1)
}

func (s *scope) specification(k *kernel.Cgroup) {
	s.maybe(&specShares, k.Shares, 1)
	s.maybe(&specPeriod, k.Period, 1)
	s.maybe(&specQuota, k.Quota, 1)
	if k.Memory == nil {
		return // the cgroup is not known
	}
	s.add(&specMemory, value(k.MemoryLimit)) // 0 is no limit, as in cAdvisor
	s.add(&specSwap, value(k.SwapLimit))
}

// network adds the counters of interfaces. The kernel's have packets, those of the runtime only bytes
// and errors.
func (s *scope) network(interfaces []kernel.Interface, known *statsapi.NetworkStats) {
	for i := range interfaces {
		one := &interfaces[i]
		s.traffic(&received, &one.Received, one.Name)
		s.traffic(&sent, &one.Sent, one.Name)
	}
	if len(interfaces) > 0 || known == nil {
		return
	}
	for i := range known.Interfaces {
		one := &known.Interfaces[i]
		s.maybe(&received.bytes, one.RxBytes, 1, one.Name)
		s.maybe(&received.errors, one.RxErrors, 1, one.Name)
		s.maybe(&sent.bytes, one.TxBytes, 1, one.Name)
		s.maybe(&sent.errors, one.TxErrors, 1, one.Name)
	}
}

func (s *scope) traffic(f *trafficFamilies, t *kernel.Traffic, name string) {
	s.add(&f.bytes, float64(t.Bytes), name)
	s.add(&f.packets, float64(t.Packets), name)
	s.add(&f.errors, float64(t.Errors), name)
	s.add(&f.dropped, float64(t.Dropped), name)
}
