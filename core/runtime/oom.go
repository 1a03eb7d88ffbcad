package runtime

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Whom the kernel kills first when memory runs out: the highest score.
const (
	oomGuaranteed   = -997
	oomBestEffort   = 1000
	oomMinBurstable = 1000 + oomGuaranteed
	oomMaxBurstable = oomBestEffort - 1
)

// A pod is critical for the node by this class, and by a priority from which
// pods are the system's.
const (
	nodeCriticalClass = "system-node-critical"
	systemPriority    = 2_000_000_000
)

// oomScoreAdj is a container's OOM score adjustment. A burstable container's
// falls with the share of the node's memory (capacity, bytes) it requests.
func oomScoreAdj(p *v1.Pod, c *v1.Container, capacity int64) int64 {
	if p.Spec.PriorityClassName == nodeCriticalClass && p.Spec.Priority != nil && *p.Spec.Priority >= systemPriority {
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
	share := 1000 * min(pod.Amount(v1.ResourceMemory, c.Resources.Requests.Memory()), capacity) / capacity
	return min(max(oomBestEffort-share, oomMinBurstable), oomMaxBurstable)
}
