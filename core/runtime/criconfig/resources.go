package criconfig

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/internal/cpu"
	"github.com/wardlet/wardlet/core/pod"
)

// sandboxResources returns the resources of the whole pod, for the runtime's information.
func (b *Builder) sandboxResources(p *v1.Pod) *runtimeapi.LinuxContainerResources {
	options := resource.PodResourcesOptions{ExcludeOverhead: true}
	return b.linuxResources(resource.PodRequests(p, options), resource.PodLimits(p, options))
}

// sandboxOverhead returns what a sandbox of the pod's runtime class uses in addition to the
// containers, as both a request and a limit. nil means none.
func (b *Builder) sandboxOverhead(p *v1.Pod) *runtimeapi.LinuxContainerResources {
	if len(p.Spec.Overhead) == 0 {
		return nil
	}
	return b.linuxResources(p.Spec.Overhead, p.Spec.Overhead)
}

// containerResources returns the limits of a container's own cgroup.
func (b *Builder) containerResources(p *v1.Pod, c *v1.Container) *runtimeapi.LinuxContainerResources {
	resources := b.linuxResources(c.Resources.Requests, limitsOf(p, c))
	resources.OomScoreAdj = oomScoreAdj(p, c, b.config.MemoryCapacity)
	resources.HugepageLimits = b.hugePages(p, c)
	b.limitSwap(resources, p, c)
	b.setMemoryQoS(resources, p, c)
	return resources
}

// limitsOf returns the limits of a container: for CPU and memory those of the whole pod where it has
// none of its own.
func limitsOf(p *v1.Pod, c *v1.Container) v1.ResourceList {
	if p.Spec.Resources == nil {
		return c.Resources.Limits
	}
	limits := v1.ResourceList{}
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
		limits[name] = p.Spec.Resources.Limits[name]
		if own := c.Resources.Limits[name]; !own.IsZero() {
			limits[name] = own
		}
	}
	return limits
}

// hugePages returns the limits of a container for all sizes of huge pages that the node has: its own,
// else those of the whole pod, else 0.
func (b *Builder) hugePages(p *v1.Pod, c *v1.Container) []*runtimeapi.HugepageLimit {
	most := map[int64]int64{}
	if p.Spec.Resources != nil {
		for name, limit := range p.Spec.Resources.Limits {
			most[pod.PageSize(name)] = pod.Amount(name, &limit)
		}
	}
	for name, limit := range c.Resources.Limits {
		most[pod.PageSize(name)] = pod.Amount(name, &limit)
	}
	var limits []*runtimeapi.HugepageLimit
	for _, size := range b.config.PageSizes {
		limits = append(limits, &runtimeapi.HugepageLimit{PageSize: pod.PageSizeName(size), Limit: uint64(most[size])})
	}
	return limits
}

func (b *Builder) linuxResources(requests, limits v1.ResourceList) *runtimeapi.LinuxContainerResources {
	requested, ok := requests[v1.ResourceCPU]
	if !ok {
		requested = limits[v1.ResourceCPU]
	}
	resources := &runtimeapi.LinuxContainerResources{
		CpuShares:          cpu.Shares(pod.Amount(v1.ResourceCPU, &requested)),
		CpuPeriod:          cpu.Period,
		CpuQuota:           cpu.Quota(pod.Amount(v1.ResourceCPU, limits.Cpu())),
		MemoryLimitInBytes: pod.Amount(v1.ResourceMemory, limits.Memory()),
	}
	if b.config.CgroupV2 && !b.config.SingleProcessOOMKill {
		resources.Unified = map[string]string{"memory.oom.group": "1"}
	}
	return resources
}

// OOM scores: when memory runs out, the kernel kills the process with the highest score first.
const (
	oomGuaranteed   = -997
	oomBestEffort   = 1000
	oomMinBurstable = 1000 + oomGuaranteed
	oomMaxBurstable = oomBestEffort - 1
)

// A pod is critical for the node if it has this class and at least this priority, from which on
// priorities are reserved for the system.
const (
	nodeCriticalClass = "system-node-critical"
	systemPriority    = 2_000_000_000
)

// oomScoreAdj returns a container's OOM score adjustment. That of a burstable container decreases
// with its requested share of the node's memory (capacity, in bytes).
func oomScoreAdj(p *v1.Pod, c *v1.Container, capacity int64) int64 {
	if p.Spec.PriorityClassName == nodeCriticalClass && isSystem(p) {
		return oomGuaranteed
	}
	switch pod.QOS(p) {
	case v1.PodQOSGuaranteed:
		return oomGuaranteed
	case v1.PodQOSBestEffort:
		return oomBestEffort
	}
	if capacity <= 0 {
		return oomMaxBurstable
	}
	memory := pod.Amount(v1.ResourceMemory, c.Resources.Requests.Memory())
	if isSidecar(p, c) {
		memory = max(memory, leastMemory(p))
	}
	memory += min(unclaimedMemory(p), pod.MostOf-memory)
	share := 1000 * min(memory, capacity) / capacity
	return min(max(oomBestEffort-share, oomMinBurstable), oomMaxBurstable)
}

// unclaimedMemory returns the memory, in bytes, that the whole pod requests beyond what its containers
// request, divided among the containers.
func unclaimedMemory(p *v1.Pod) int64 {
	if p.Spec.Resources == nil {
		return 0
	}
	all := pod.Amount(v1.ResourceMemory, p.Spec.Resources.Requests.Memory())
	sum := resource.AggregateContainerRequests(p, resource.PodResourcesOptions{})
	left := all - pod.Amount(v1.ResourceMemory, sum.Memory())
	return max(left, 0) / int64(len(p.Spec.Containers)+len(p.Spec.InitContainers))
}

// isSidecar reports whether c is an init container that runs beside the containers of the pod.
func isSidecar(p *v1.Pod, c *v1.Container) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(i v1.Container) bool {
		return i.Name == c.Name && i.RestartPolicy != nil && *i.RestartPolicy == v1.ContainerRestartPolicyAlways
	})
}

// leastMemory returns the least memory, in bytes, that a container of the pod requests beside its init
// containers. The kernel kills a sidecar no earlier than such a container.
func leastMemory(p *v1.Pod) int64 {
	var least int64
	for i := range p.Spec.Containers {
		requested := pod.Amount(v1.ResourceMemory, p.Spec.Containers[i].Resources.Requests.Memory())
		if i == 0 || requested < least {
			least = requested
		}
	}
	return least
}
