package agent

import (
	"cmp"
	"context"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/eviction"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
)

// newLimits returns what evicts pods whose files exceed the pods' own limits.
func (n *Node) newLimits(dedicated func() bool) *eviction.Limits {
	return eviction.NewLimits(eviction.LimitsConfig{
		Layout: parts.Layout(n.cfg), Containers: n.runningContainers, Layers: n.layers, Dedicated: dedicated, Pods: evictable{n},
		Critical: criticality(n.cfg, n.node).Critical, Evicted: n.meters.Evictions.Evicted, Log: n.log,
	})
}

// cgroupPeriod is the interval at which the limits of all pods together and of their classes are set
// again, as with a kubelet.
const cgroupPeriod = time.Minute

// newCgroups makes the cgroups of pods, with the limits that the configuration reserves.
func (n *Node) newCgroups() (*node.Cgroups, error) {
	_, pids := n.cfg.Node.Reserved()
	free := n.object.Node().Status.Allocatable
	bounds := node.Bounds{MilliCPU: free.Cpu().MilliValue(), PodPIDs: n.cfg.Node.PodPIDs(), ReserveMemory: n.cfg.Node.MemoryReservationPolicy == config.TieredReservation}
	bounds.Memory = n.memoryOfPods()
	if pids > 0 {
		var err error
		if bounds.PIDs, err = node.UnreservedPIDs(pids); err != nil {
			return nil, err
		}
	}
	// The fallback is used until the runtime tells its driver, before the first pod starts.
	driver := cmp.Or(n.fixedDriver(), n.cfg.Runtime.CgroupDriverFallback)
	return node.NewCgroups(node.Driver(driver), n.cfg.Paths.CgroupRoot, bounds)
}

// memoryOfPods returns the memory in bytes that all pods together may use, 0 for no limit.
func (n *Node) memoryOfPods() int64 {
	reserved, _ := n.cfg.Node.Reserved()
	memory, ok := reserved[v1.ResourceMemory]
	if !ok {
		return 0
	}
	return n.object.Node().Status.Capacity.Memory().Value() - memory.Value()
}

// fixedDriver returns the cgroup driver that agent.toml names, empty for that of the runtime.
func (n *Node) fixedDriver() string {
	if n.cfg.Runtime.CgroupDriver == config.CgroupAuto {
		return ""
	}
	return n.cfg.Runtime.CgroupDriver
}

// useDriver makes cgroups with the runtime's driver, unless agent.toml names one.
func (n *Node) useDriver(runtimes node.Driver) {
	if n.fixedDriver() != "" || runtimes == "" || runtimes == n.cgroups.Driver() {
		return
	}
	n.log.Info("cgroups are made with the driver of the runtime", "driver", string(runtimes))
	n.cgroups.Use(runtimes)
}

// swap returns the swap space that containers may use.
func (n *Node) swap() criconfig.Swap {
	capacity, err := node.SwapCapacity()
	if err != nil {
		n.log.Warn("the swap space of the node is not known, and containers may use none", "err", err)
	}
	return criconfig.Swap{Controller: n.cgroups.LimitsSwap(), Limited: n.cfg.Node.SwapBehavior == config.LimitedSwap, Capacity: capacity}
}

// memoryQoS returns how the kernel treats memory of containers below their limits. Only cgroup v2 has
// such limits.
func (n *Node) memoryQoS() criconfig.MemoryQoS {
	if !n.cgroups.V2() {
		if n.cfg.Node.MemoryThrottlingFactor > 0 {
			n.log.Warn("node.memory_throttling_factor has no effect with cgroup v1")
		}
		return criconfig.MemoryQoS{}
	}
	return criconfig.MemoryQoS{ThrottlingFactor: n.cfg.Node.MemoryThrottlingFactor, Reserve: n.cfg.Node.MemoryReservationPolicy == config.TieredReservation}
}

// refreshCgroups keeps the limits of the cgroups of pods until ctx is done.
func (n *Node) refreshCgroups(ctx context.Context) {
	tick := time.NewTicker(cgroupPeriod)
	defer tick.Stop()
	var failed string
	for {
		recreated, err := n.cgroups.Refresh()
		for _, uid := range recreated {
			n.log.Warn("the cgroup of a pod was removed by another program, and is created again", "uid", uid)
		}
		switch {
		case err == nil:
			failed = ""
		case failed != err.Error():
			failed = err.Error()
			n.log.Warn("the limits of pods cannot be set", "err", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
