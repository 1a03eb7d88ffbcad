package criconfig

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Swap describes the swap space that containers may use.
type Swap struct {
	// Controller is true if the kernel can limit the swap space of a cgroup. Otherwise no limits are
	// set.
	Controller bool
	// Limited lets containers of burstable pods use swap space on cgroup v2. It is a kubelet's
	// LimitedSwap.
	Limited bool
	// Capacity is the swap space of the node in bytes.
	Capacity int64
}

// limitSwap sets the swap limit of a container: none, or with Limited a share of the node's swap space
// that equals the share of the node's memory that the container requests.
func (b *Builder) limitSwap(r *runtimeapi.LinuxContainerResources, p *v1.Pod, c *v1.Container) {
	switch {
	case !b.config.Swap.Controller:
	case !b.config.CgroupV2:
		r.MemorySwapLimitInBytes = r.MemoryLimitInBytes // the limit of memory and swap together
	default:
		if r.Unified == nil {
			r.Unified = map[string]string{}
		}
		r.Unified["memory.swap.max"] = strconv.FormatInt(b.swapOf(p, c), 10)
	}
}

// swapOf returns the swap space that a container may use, in bytes.
func (b *Builder) swapOf(p *v1.Pod, c *v1.Container) int64 {
	requested, limit := c.Resources.Requests.Memory(), c.Resources.Limits.Memory()
	switch {
	case !b.config.Swap.Limited, pod.QOS(p) != v1.PodQOSBurstable, isSystem(p):
		return 0
	case requested.Cmp(*limit) == 0: // both may be missing
		return 0
	}
	capacity := b.config.MemoryCapacity
	if capacity <= 0 {
		return 0
	}
	memory := min(pod.Amount(v1.ResourceMemory, requested), capacity)
	return int64(float64(memory) / float64(capacity) * float64(b.config.Swap.Capacity))
}

// isSystem reports whether a pod has a priority that is reserved for the system.
func isSystem(p *v1.Pod) bool { return p.Spec.Priority != nil && *p.Spec.Priority >= systemPriority }
