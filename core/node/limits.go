package node

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/pod"
)

// The kernel's figures for CPU, as a kubelet uses them.
const (
	sharesPerCPU = 1024
	minShares    = 2
	maxShares    = 262144
	quotaPeriod  = 100_000 // µs
	minQuota     = 1_000   // µs
	maxWeight    = 10_000
	// maxMilliCPU is more than any machine has, and what a kernel takes.
	maxMilliCPU = 1_000_000_000
)

// limits are what the cgroup of a pod as a whole may use.
type limits struct {
	// shares is the weight against other cgroups, in the units of cgroup v1.
	shares int64
	// quota is in µs of each quotaPeriod, memory in bytes; 0 is no limit.
	quota, memory int64
}

// limitsOf gives p the shares it requests. It has a limit only where every
// container has one: else the others' would bind the one without.
func limitsOf(p *v1.Pod, class v1.PodQOSClass) limits {
	if class == v1.PodQOSBestEffort {
		return limits{shares: minShares}
	}
	allCPU, allMemory := true, true
	upper := resource.PodLimits(p, resource.PodResourcesOptions{
		ContainerFn: func(container v1.ResourceList, _ resource.ContainerType) {
			allCPU = allCPU && !container.Cpu().IsZero()
			allMemory = allMemory && !container.Memory().IsZero()
		},
	})
	requests := resource.PodRequests(p, resource.PodResourcesOptions{})
	l := limits{shares: sharesOf(pod.Amount(v1.ResourceCPU, requests.Cpu()))}
	if allCPU {
		l.quota = quotaOf(pod.Amount(v1.ResourceCPU, upper.Cpu()))
	}
	if allMemory {
		l.memory = pod.Amount(v1.ResourceMemory, upper.Memory())
	}
	return l
}

func sharesOf(milliCPU int64) int64 {
	return min(max(min(milliCPU, maxMilliCPU)*sharesPerCPU/1000, minShares), maxShares)
}

func quotaOf(milliCPU int64) int64 {
	if milliCPU == 0 {
		return 0
	}
	return max(min(milliCPU, maxMilliCPU)*quotaPeriod/1000, minQuota)
}

// weightOf turns shares into the weight of cgroup v2, linearly, as a kubelet
// does for pods.
func weightOf(shares int64) int64 {
	return 1 + (shares-minShares)*(maxWeight-1)/(maxShares-minShares)
}

// sharesOfWeight is the inverse of weightOf, as far as there is one.
func sharesOfWeight(weight int64) int64 {
	return minShares + (weight-1)*(maxShares-minShares)/(maxWeight-1)
}
