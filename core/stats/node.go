package stats

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// rootCgroup is the cgroup of everything.
const rootCgroup = "/"

// measureNode adds CPU and memory of the machine and of what runs beside pods.
func (s *Stats) measureNode(r *Reading, rates *rates) {
	k, now := s.cfg.Kernel, metav1.NewTime(r.At)
	n := &r.Node
	n.NodeName = s.cfg.Node
	used, since, err := k.CPU()
	if err != nil {
		r.Failed = err
	} else {
		n.StartTime = metav1.NewTime(since)
		if root := k.Use(rootCgroup); root.CPU != nil {
			used = *root.CPU // it is more exact
		}
		n.CPU = &statsapi.CPUStats{Time: now, UsageCoreNanoSeconds: &used}
		rates.add("node", n.CPU)
	}
	memory, err := k.Memory()
	if err != nil {
		r.Failed = err
	} else {
		r.Memory = memory.Total
		n.Memory = &statsapi.MemoryStats{
			Time: now, AvailableBytes: new(memory.Available()), UsageBytes: &memory.Usage, WorkingSetBytes: &memory.WorkingSet, RSSBytes: &memory.Anonymous,
			PageFaults: memory.PageFaults, MajorPageFaults: memory.MajorPageFaults,
		}
		n.Swap = &statsapi.SwapStats{Time: now, SwapAvailableBytes: &memory.SwapFree, SwapUsageBytes: new(memory.SwapTotal - min(memory.SwapTotal, memory.SwapFree))}
	}
	s.measureSystem(n, since, rates)
}

// measureSystem adds the system containers: the agent, the runtime and all pods together.
func (s *Stats) measureSystem(n *statsapi.NodeStats, since time.Time, rates *rates) {
	process := func(name string, pid int) {
		p, err := s.cfg.Kernel.Process(pid)
		if err != nil {
			return // it has just ended
		}
		now := metav1.NewTime(rates.at)
		c := statsapi.ContainerStats{
			Name: name, StartTime: metav1.NewTime(since.Add(p.Started)), CPU: &statsapi.CPUStats{Time: now, UsageCoreNanoSeconds: &p.CPU},
			Memory: &statsapi.MemoryStats{Time: now, UsageBytes: &p.Memory, WorkingSetBytes: &p.Memory, RSSBytes: &p.Memory, PageFaults: &p.PageFaults, MajorPageFaults: &p.MajorPageFaults},
		}
		rates.add("system "+name, c.CPU)
		n.SystemContainers = append(n.SystemContainers, c)
	}
	process(statsapi.SystemContainerKubelet, s.cfg.PID)
	if pid := s.peer.process(s.cfg.RuntimeSocket, rates.at); pid > 0 {
		process(statsapi.SystemContainerRuntime, pid)
	}
	pods := s.cfg.Kernel.Use(s.cfg.CgroupRoot())
	c := statsapi.ContainerStats{Name: statsapi.SystemContainerPods, StartTime: n.StartTime, CPU: cpuOf(&pods, rates.at), Memory: memoryOf(nil, &pods, rates.at), Swap: swapOf(&pods, rates.at)}
	if c.CPU == nil && c.Memory == nil {
		return // the cgroup is made with the first pod
	}
	if c.Memory != nil && c.Memory.AvailableBytes == nil && n.Memory != nil {
		c.Memory.AvailableBytes = n.Memory.AvailableBytes
	}
	rates.add("system "+c.Name, c.CPU)
	n.SystemContainers = append(n.SystemContainers, c)
}
