package runtime

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// The kernel's figures for CPU, as a kubelet uses them.
const (
	sharesPerCPU = 1024
	minShares    = 2
	maxShares    = 262144
	quotaPeriod  = 100_000 // µs
	minQuota     = 1_000   // µs
	// maxMilliCPU is more than any machine has, and what a kernel takes.
	maxMilliCPU = 1_000_000_000
)

// sandboxResources tell the runtime how large the whole pod is.
func (r *Runtime) sandboxResources(p *v1.Pod) *runtimeapi.LinuxContainerResources {
	options := resource.PodResourcesOptions{ExcludeOverhead: true}
	return r.linuxResources(resource.PodRequests(p, options), resource.PodLimits(p, options))
}

// containerResources are the limits of a container's own cgroup.
func (r *Runtime) containerResources(p *v1.Pod, c *v1.Container) *runtimeapi.LinuxContainerResources {
	resources := r.linuxResources(c.Resources.Requests, c.Resources.Limits)
	resources.OomScoreAdj = oomScoreAdj(p, c, r.config.MemoryCapacity)
	return resources
}

func (r *Runtime) linuxResources(requests, limits v1.ResourceList) *runtimeapi.LinuxContainerResources {
	cpu, requested := requests[v1.ResourceCPU]
	if !requested {
		cpu = limits[v1.ResourceCPU]
	}
	resources := &runtimeapi.LinuxContainerResources{
		CpuShares:          cpuShares(pod.Amount(v1.ResourceCPU, &cpu)),
		CpuPeriod:          quotaPeriod,
		CpuQuota:           cpuQuota(pod.Amount(v1.ResourceCPU, limits.Cpu())),
		MemoryLimitInBytes: pod.Amount(v1.ResourceMemory, limits.Memory()),
	}
	if r.config.CgroupV2 {
		resources.Unified = map[string]string{"memory.oom.group": "1"}
	}
	return resources
}

func cpuShares(milliCPU int64) int64 {
	return min(max(min(milliCPU, maxMilliCPU)*sharesPerCPU/1000, minShares), maxShares)
}

// cpuQuota is in µs per period; 0 is no limit.
func cpuQuota(milliCPU int64) int64 {
	if milliCPU == 0 {
		return 0
	}
	return max(min(milliCPU, maxMilliCPU)*quotaPeriod/1000, minQuota)
}
