package admission

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/pod"
)

// victims chooses of pods that give way those whose end makes up for what a pod
// lacks, and reports whether all of them together could. As few as can be are
// chosen, and by class of service: guaranteed pods only for what all others do
// not give, burstable ones for what is then left, the rest of those that have no
// requests.
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

// nearest chooses pods until nothing is needed any more, each time the one that
// leaves least. It is called only where all of them are enough.
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

// larger reports whether p asks for more memory than other, or for as much and for
// more cpu.
func larger(p, other *v1.Pod) bool {
	return cmp.Or(
		cmp.Compare(requestOf(p, v1.ResourceMemory), requestOf(other, v1.ResourceMemory)),
		cmp.Compare(requestOf(p, v1.ResourceCPU), requestOf(other, v1.ResourceCPU)),
	) > 0
}

// need is an amount of a resource, above 0, that has to become free.
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

// without is what is still needed when pods have ended.
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

// first are of pods, in their order, those that are needed: each releases something of
// what those before it do not give.
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

// distance is how far the end of p is from being enough: of each resource the
// share that is still needed, squared.
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

// requestOf is what the end of a pod releases of one resource. An overhead counts
// where the pod asks for some itself.
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
