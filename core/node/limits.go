package node

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/internal/cpu"
	"github.com/wardlet/wardlet/core/pod"
)

// limits are the resource limits of a pod's cgroup.
type limits struct {
	// shares is the weight against other cgroups, in the units of cgroup v1.
	shares int64
	// quota is in µs of each cpu.Period, memory in bytes, pids in processes; 0 means no limit.
	quota, memory, pids int64
}

// limitsOf returns the shares that p requests and its limits. It sets a limit only if every
// container has one: otherwise the limits of the others would restrict the container without one.
func limitsOf(p *v1.Pod, class v1.PodQOSClass) limits {
	if class == v1.PodQOSBestEffort {
		return limits{shares: cpu.MinShares}
	}
	allCPU, allMemory := true, true
	upper := resource.PodLimits(p, resource.PodResourcesOptions{
		ContainerFn: func(container v1.ResourceList, _ resource.ContainerType) {
			allCPU = allCPU && !container.Cpu().IsZero()
			allMemory = allMemory && !container.Memory().IsZero()
		},
	})
	requests := resource.PodRequests(p, resource.PodResourcesOptions{})
	l := limits{shares: cpu.Shares(pod.Amount(v1.ResourceCPU, requests.Cpu()))}
	if allCPU {
		l.quota = cpu.Quota(pod.Amount(v1.ResourceCPU, upper.Cpu()))
	}
	if allMemory {
		l.memory = pod.Amount(v1.ResourceMemory, upper.Memory())
	}
	return l
}
