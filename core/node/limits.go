package node

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/internal/cpu"
	"github.com/wardlet/wardlet/core/pod"
)

// limits are what the cgroup of a pod as a whole may use.
type limits struct {
	// shares is the weight against other cgroups, in the units of cgroup v1.
	shares int64
	// quota is in µs of each cpu.Period, memory in bytes; 0 is no limit.
	quota, memory int64
}

// limitsOf returns the shares that p requests. It has a limit only where every
// container has one: else the others' would bind the one without.
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
