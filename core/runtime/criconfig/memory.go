package criconfig

import (
	"maps"
	"os"
	"strconv"

	v1 "k8s.io/api/core/v1"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// MemoryQoS describes how cgroup v2 treats memory of containers below their limits. It is a kubelet's
// MemoryQoS.
type MemoryQoS struct {
	// ThrottlingFactor is the part of the memory between request and limit from which on a container
	// is slowed down; 0 for no such limit.
	ThrottlingFactor float64
	// Reserve protects the memory that containers request.
	Reserve bool
}

// setMemoryQoS sets memory.min, memory.low and memory.high of a container.
func (b *Builder) setMemoryQoS(r *runtimeapi.LinuxContainerResources, p *v1.Pod, c *v1.Container) {
	unified := map[string]string{}
	if request := pod.Amount(v1.ResourceMemory, c.Resources.Requests.Memory()); b.config.MemoryQoS.Reserve && request > 0 {
		protection := "memory.low"
		if pod.QOS(p) == v1.PodQOSGuaranteed {
			protection = "memory.min"
		}
		unified[protection] = strconv.FormatInt(request, 10)
	}
	if high := b.memoryHigh(c); high > 0 {
		unified["memory.high"] = strconv.FormatInt(high, 10)
	}
	if r.Unified == nil && len(unified) > 0 {
		r.Unified = map[string]string{}
	}
	maps.Copy(r.Unified, unified)
}

// memoryHigh returns the memory from which on a container is slowed down, in bytes, 0 for none. Without
// a limit, it counts with all that is allocatable. A container that requests its limit has none, and so
// has one with neither of them (kuberuntime_container_linux.go).
func (b *Builder) memoryHigh(c *v1.Container) int64 {
	request := pod.Amount(v1.ResourceMemory, c.Resources.Requests.Memory())
	limit := pod.Amount(v1.ResourceMemory, c.Resources.Limits.Memory())
	factor := b.config.MemoryQoS.ThrottlingFactor
	if factor == 0 || request == limit {
		return 0
	}
	if limit == 0 && b.config.Node != nil {
		limit = pod.Amount(v1.ResourceMemory, b.config.Node().Status.Allocatable.Memory())
	}
	page := int64(os.Getpagesize())
	high := (request + int64(factor*float64(limit-request))) / page * page
	if high <= request {
		return 0
	}
	return high
}
