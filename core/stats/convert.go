package stats

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/wardlet/wardlet/core/stats/kernel"
)

// cpuOf returns the CPU statistics of a cgroup, nil if the kernel counts none.
func cpuOf(c *kernel.Cgroup, now time.Time) *statsapi.CPUStats {
	if c.CPU == nil {
		return nil
	}
	return &statsapi.CPUStats{Time: metav1.NewTime(now), UsageCoreNanoSeconds: c.CPU}
}

// doubtful reports whether the runtime says that no memory is available. Containerd says so of a
// container without a limit.
func doubtful(m *statsapi.MemoryStats) bool { return m.AvailableBytes == nil || *m.AvailableBytes == 0 }

// memoryOf returns the memory statistics of a cgroup. Values that the runtime has, in had, are kept,
// except for the available memory. It returns nil if nothing is known.
func memoryOf(had *statsapi.MemoryStats, c *kernel.Cgroup, now time.Time) *statsapi.MemoryStats {
	if had == nil && c.Memory == nil {
		return nil
	}
	m := statsapi.MemoryStats{}
	if had != nil {
		m = *had
	} else {
		m = statsapi.MemoryStats{
			Time: metav1.NewTime(now), UsageBytes: c.Memory, WorkingSetBytes: c.WorkingSet(), RSSBytes: c.Resident, PageFaults: c.PageFaults, MajorPageFaults: c.MajorPageFaults,
		}
	}
	m.AvailableBytes = nil
	if c.MemoryLimit != nil && m.WorkingSetBytes != nil {
		m.AvailableBytes = new(*c.MemoryLimit - min(*c.MemoryLimit, *m.WorkingSetBytes))
	}
	return &m
}

// swapOf returns the swap statistics of a cgroup, nil if the kernel does not count swap.
func swapOf(c *kernel.Cgroup, now time.Time) *statsapi.SwapStats {
	if c.Swap == nil {
		return nil
	}
	s := &statsapi.SwapStats{Time: metav1.NewTime(now), SwapUsageBytes: c.Swap}
	if c.SwapLimit != nil {
		s.SwapAvailableBytes = new(*c.SwapLimit - min(*c.SwapLimit, *c.Swap))
	}
	return s
}

// sumSwap returns the swap of containers together, nil if that of none is known.
func sumSwap(containers []Container) *statsapi.SwapStats {
	var sum *statsapi.SwapStats
	for i := range containers {
		s := containers[i].Stats.Swap
		if s == nil {
			continue
		}
		if sum == nil {
			sum = &statsapi.SwapStats{Time: s.Time}
		}
		sum.SwapUsageBytes, sum.SwapAvailableBytes = added(sum.SwapUsageBytes, s.SwapUsageBytes), added(sum.SwapAvailableBytes, s.SwapAvailableBytes)
	}
	return sum
}

// added returns a sum; nil is a number that is not known and counts as 0 beside one that is.
func added(a, b *uint64) *uint64 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return new(*a + *b)
}

// psiOf returns pressure in the form of the summary, nil for nil.
func psiOf(p *kernel.Pressure) *statsapi.PSIStats {
	if p == nil {
		return nil
	}
	data := func(s kernel.Stall) statsapi.PSIData {
		return statsapi.PSIData{Total: s.Total, Avg10: s.Avg10, Avg60: s.Avg60, Avg300: s.Avg300}
	}
	return &statsapi.PSIStats{Full: data(p.Full), Some: data(p.Some)}
}

// networkOf returns the statistics of interfaces, nil if there are none. The default interface comes
// first.
func networkOf(all []kernel.Interface, first string, now time.Time) *statsapi.NetworkStats {
	if len(all) == 0 {
		return nil
	}
	n := &statsapi.NetworkStats{Time: metav1.NewTime(now)}
	for i := range all {
		one := interfaceOf(&all[i])
		n.Interfaces = append(n.Interfaces, one)
		if one.Name == first || first == "" && i == 0 {
			n.InterfaceStats = one
		}
	}
	return n
}

func interfaceOf(i *kernel.Interface) statsapi.InterfaceStats {
	return statsapi.InterfaceStats{Name: i.Name, RxBytes: &i.Received.Bytes, RxErrors: &i.Received.Errors, TxBytes: &i.Sent.Bytes, TxErrors: &i.Sent.Errors}
}
