package eviction

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	helper "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1"
)

// Usage is how much of one resource a pod uses: bytes, inodes, or process IDs.
type Usage struct {
	// Unknown is true if the usage could not be read.
	Unknown bool
	Total   int64
	// Containers are the parts of its containers by name, as far as they are known.
	Containers map[string]int64
}

// request returns how much of a resource a pod requests.
func request(p *v1.Pod, name v1.ResourceName) *resource.Quantity {
	if name != v1.ResourceMemory && name != v1.ResourceEphemeralStorage {
		return resource.NewQuantity(0, resource.DecimalSI)
	}
	all := helper.PodRequests(p, helper.PodResourcesOptions{ExcludeOverhead: true, SkipContainerLevelResources: helper.IsPodLevelResourcesSet(p)})
	sum := all[name]
	if more, ok := p.Spec.Overhead[name]; ok && !sum.IsZero() {
		sum.Add(more)
	}
	return &sum
}

// ranked is a pod with the values by which it is ranked.
type ranked struct {
	pod *v1.Pod
	Usage
	// pays is true for a pod of a tenant that uses more than its share.
	pays     bool
	exceeds  bool
	priority int32
	// beyond is the usage beyond the request. It is negative if less is used.
	beyond resource.Quantity
}

// rank returns the pods in the order in which they are evicted for a lack of a resource. First come
// the pods of tenants that use more than their share (overShare), then pods of unknown usage, then those
// that use more than they request, then those of a lower priority, and then those that use most
// beyond their requests. For process IDs, which cannot be requested, usage counts after priority.
// tenant is nil if tenants do not matter.
func rank(pods []*v1.Pod, usage map[types.UID]Usage, name v1.ResourceName, tenant func(namespace string) string) []*v1.Pod {
	over := overShare(pods, usage, name, tenant)
	all := make([]ranked, len(pods))
	for i, p := range pods {
		u, known := usage[p.UID]
		u.Unknown = u.Unknown || !known
		r := ranked{pod: p, Usage: u, pays: tenant != nil && over[tenant(p.Namespace)], priority: corev1.PodPriority(p)}
		wants := request(p, name)
		r.exceeds = wants.CmpInt64(u.Total) < 0
		r.beyond = *resource.NewQuantity(u.Total, resource.BinarySI)
		r.beyond.Sub(*wants)
		all[i] = r
	}
	slices.SortFunc(all, func(a, b ranked) int {
		exceeding := first(a.exceeds, b.exceeds)
		if a.Unknown || b.Unknown {
			exceeding = first(a.Unknown, b.Unknown)
		}
		amount := b.beyond.Cmp(a.beyond)
		if a.Unknown || b.Unknown {
			amount = first(a.Unknown, b.Unknown)
		}
		if name == pids {
			exceeding = 0
		}
		return cmp.Or(first(a.pays, b.pays), exceeding, cmp.Compare(a.priority, b.priority), amount,
			cmp.Compare(a.pod.Namespace, b.pod.Namespace), cmp.Compare(a.pod.Name, b.pod.Name), cmp.Compare(a.pod.UID, b.pod.UID))
	})
	out := make([]*v1.Pod, len(all))
	for i := range all {
		out[i] = all[i].pod
	}
	return out
}

// first orders true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// overShare returns the tenants whose pods together use more than they request together. Of inodes and
// process IDs, which cannot be requested, it is the tenant that uses most, if the operator's pods do
// not use more.
func overShare(pods []*v1.Pod, usage map[types.UID]Usage, name v1.ResourceName, tenant func(namespace string) string) map[string]bool {
	over := map[string]bool{}
	if tenant == nil {
		return over
	}
	if name == inodes || name == pids {
		used, most := map[string]int64{}, int64(0)
		for _, p := range pods {
			t := tenant(p.Namespace)
			used[t] += usage[p.UID].Total
			most = max(most, used[t])
		}
		for t, n := range used {
			over[t] = t != "" && n == most && n > used[""]
		}
		return over
	}
	left := map[string]resource.Quantity{}
	for _, p := range pods {
		t := tenant(p.Namespace)
		if t == "" {
			continue
		}
		has := left[t]
		has.Add(*request(p, name))
		has.Sub(*resource.NewQuantity(usage[p.UID].Total, resource.BinarySI))
		left[t] = has
	}
	for t, has := range left {
		over[t] = has.Sign() < 0
	}
	return over
}
