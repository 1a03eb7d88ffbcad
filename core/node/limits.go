package node

import (
	"errors"
	"os"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
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
	// request is the memory that the pod requests, in bytes.
	request int64
	// hugePages are bytes by page size. Pages of another size cannot be used.
	hugePages map[int64]int64
}

// limitsOf returns the shares and huge pages that p requests, and its limits.
func limitsOf(p *v1.Pod, class v1.PodQOSClass) limits {
	if class == v1.PodQOSBestEffort {
		return limits{shares: cpu.MinShares}
	}
	requests := resource.PodRequests(p, resource.PodResourcesOptions{})
	l := limits{
		shares:  cpu.Shares(pod.Amount(v1.ResourceCPU, requests.Cpu())),
		quota:   cpu.Quota(pod.Limit(p, v1.ResourceCPU)),
		memory:  pod.Limit(p, v1.ResourceMemory),
		request: pod.Amount(v1.ResourceMemory, requests.Memory()),
	}
	for name, amount := range requests {
		if size := pod.PageSize(name); size > 0 {
			if l.hugePages == nil {
				l.hugePages = map[int64]int64{}
			}
			l.hugePages[size] += pod.Amount(name, &amount)
		}
	}
	return l
}

// reserveMemory protects the memory that pods request, as a kubelet does with TieredReservation: hard
// for guaranteed pods, soft for burstable ones. What protects a cgroup is at most what protects its
// parents, so that these have the sums. The caller must hold mu.
func (c *Cgroups) reserveMemory() error {
	if !c.bounds.ReserveMemory {
		return nil
	}
	sums := map[v1.PodQOSClass]int64{}
	for _, class := range []v1.PodQOSClass{v1.PodQOSGuaranteed, v1.PodQOSBurstable} {
		uids, err := c.podsIn(c.hierarchy().mount("memory"), class)
		if err != nil {
			return err
		}
		for _, uid := range uids {
			n, err := c.reservedFor(class, uid)
			if err != nil {
				return err
			}
			sums[class] += n
		}
	}
	burstable := c.naming().class(v1.PodQOSBurstable)
	if c.hierarchy().has(burstable) {
		if err := c.hierarchy().reserve(burstable, 0, sums[v1.PodQOSBurstable]); err != nil {
			return err
		}
	}
	return c.hierarchy().reserve(c.naming().path(), sums[v1.PodQOSGuaranteed]+sums[v1.PodQOSBurstable], 0)
}

// reservedFor returns the memory that is protected in the cgroup of a pod, 0 if it is gone.
func (c *Cgroups) reservedFor(class v1.PodQOSClass, uid types.UID) (int64, error) {
	if e, known := c.ensured[uid]; known {
		return e.limits.request, nil
	}
	hard, soft, err := c.hierarchy().reserved(c.naming().pod(class, uid))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	return max(hard, soft), err
}

// reserveOf protects the memory that a pod requests.
func (c *Cgroups) reserveOf(cgroup string, e ensured) error {
	if !c.bounds.ReserveMemory || e.class == v1.PodQOSBestEffort {
		return nil
	}
	hard, soft := int64(0), e.limits.request
	if e.class == v1.PodQOSGuaranteed {
		hard, soft = soft, hard
	}
	return c.hierarchy().reserve(cgroup, hard, soft)
}
