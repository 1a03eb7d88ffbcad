package admission

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/pod"
)

// victims chooses pods whose termination frees the resources that a pod lacks, and reports whether
// the candidates are enough. It chooses few pods, and by QoS class: guaranteed pods only for
// amounts that all other classes together cannot free, burstable pods only for amounts that then
// remain and that BestEffort pods cannot free, and BestEffort pods for the rest.
func victims(candidates []*v1.Pod, lacks []shortage) (chosen []*v1.Pod, enough bool) {
	var byClass [3][]*v1.Pod
	bestEffort, burstable, guaranteed := &byClass[0], &byClass[1], &byClass[2]
	for _, p := range candidates {
		switch pod.QOS(p) {
		case v1.PodQOSGuaranteed:
			*guaranteed = append(*guaranteed, p)
		case v1.PodQOSBurstable:
			*burstable = append(*burstable, p)
		default:
			*bestEffort = append(*bestEffort, p)
		}
	}
	needs := needsOf(lacks)
	if slices.ContainsFunc(lacks, shortage.never) || len(needs.without(candidates)) > 0 {
		return nil, false
	}
	third := nearest(*guaranteed, needs.without(slices.Concat(*bestEffort, *burstable)))
	second := nearest(*burstable, needs.without(slices.Concat(*bestEffort, third)))
	first := nearest(*bestEffort, needs.without(slices.Concat(second, third)))
	return slices.Concat(first, second, third), true
}

// nearest chooses pods until nothing more is needed, each time the pod after which the least
// remains. It must be called with enough pods.
func nearest(pods []*v1.Pod, still needs) (chosen []*v1.Pod) {
	pods = slices.Clone(pods)
	for len(still) > 0 && len(pods) > 0 {
		best, least := 0, still.distance(pods[0])
		for i, p := range pods[1:] {
			d := still.distance(p)
			if c := cmp.Compare(d, least); c < 0 || c == 0 && !larger(p, pods[best]) {
				best, least = i+1, d
			}
		}
		still = still.without(pods[best : best+1])
		chosen = append(chosen, pods[best])
		pods[best] = pods[len(pods)-1]
		pods = pods[:len(pods)-1]
	}
	return chosen
}

// larger reports whether p requests more memory than other, or equal memory and more cpu.
func larger(p, other *v1.Pod) bool {
	return cmp.Or(
		cmp.Compare(requestOf(p, v1.ResourceMemory), requestOf(other, v1.ResourceMemory)),
		cmp.Compare(requestOf(p, v1.ResourceCPU), requestOf(other, v1.ResourceCPU)),
	) > 0
}

// need is an amount of a resource, above 0, that must become free.
type need struct {
	resource v1.ResourceName
	amount   int64
}

type needs []need

func needsOf(lacks []shortage) needs {
	var all needs
	for i := range lacks {
		all = append(all, need{lacks[i].resource, lacks[i].lack()})
	}
	return all
}

// without returns the needs that remain after the termination of pods.
func (n needs) without(pods []*v1.Pod) needs {
	var still needs
	for _, one := range n {
		for _, p := range pods {
			if one.amount -= requestOf(p, one.resource); one.amount <= 0 {
				break
			}
		}
		if one.amount > 0 {
			still = append(still, one)
		}
	}
	return still
}

// first returns the needed ones of pods, in their order: each frees some of a resource that the
// preceding pods do not free completely.
func (n needs) first(pods []*v1.Pod) []*v1.Pod {
	var needed []*v1.Pod
	for i, p := range pods {
		gives := func(one need) bool { return requestOf(p, one.resource) > 0 }
		if slices.ContainsFunc(n, gives) {
			needed = append(needed, p)
			n = n.without(pods[i : i+1])
		}
	}
	return needed
}

// distance returns how much is still needed after the termination of p: the sum of the squares of
// each resource's missing share.
func (n needs) distance(p *v1.Pod) float64 {
	sum := 0.0
	for _, one := range n {
		if left := float64(one.amount - requestOf(p, one.resource)); left > 0 {
			share := left / float64(one.amount)
			sum += share * share
		}
	}
	return sum
}

// requestOf returns the amount of a resource that the termination of a pod frees. The overhead is
// included if the pod itself requests the resource.
func requestOf(p *v1.Pod, name v1.ResourceName) int64 {
	if name == v1.ResourcePods {
		return 1
	}
	q := resource.PodRequests(p, resource.PodResourcesOptions{
		SkipContainerLevelResources: resource.IsPodLevelResourcesSet(p), ExcludeOverhead: true,
	})[name]
	if !q.IsZero() {
		q.Add(p.Spec.Overhead[name])
	}
	return pod.Amount(name, &q)
}
