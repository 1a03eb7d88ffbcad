package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/pod"
)

// amounts are the amounts by resource: cpu in thousandths, all others in whole units. No amount is
// negative.
type amounts map[v1.ResourceName]int64

// shortage says how much of a resource is requested, used and available.
type shortage struct {
	resource                  v1.ResourceName
	requested, used, capacity int64
}

// lack returns the amount that must become free.
func (s shortage) lack() int64 { return plus(s.requested, s.used) - s.capacity }

// never reports whether even an empty node would not have enough.
func (s shortage) never() bool { return s.requested > s.capacity }

func (s shortage) fault() fault {
	return fault{
		reason: "OutOf" + string(s.resource),
		message: fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d",
			s.resource, s.requested, s.used, s.capacity),
		short: &s,
	}
}

// amountsOf returns the counted resources of a list: cpu, memory, ephemeral storage, pods, and
// names with a prefix.
func amountsOf(list v1.ResourceList) amounts {
	out := amounts{}
	for name, q := range list {
		if counted(name) {
			out[name] = pod.Amount(name, &q)
		}
	}
	return out
}

// ownResources are the resources that every node has, in the order in which shortages are reported.
// Other resources follow by name.
var ownResources = []v1.ResourceName{v1.ResourcePods, v1.ResourceCPU, v1.ResourceMemory, v1.ResourceEphemeralStorage}

func counted(name v1.ResourceName) bool { return slices.Contains(ownResources, name) || isScalar(name) }

// isScalar reports whether a resource is an extended resource, huge pages or an attachable volume.
func isScalar(name v1.ResourceName) bool {
	return isExtended(name) || strings.Contains(string(name), v1.ResourceDefaultNamespacePrefix) ||
		strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix) || strings.HasPrefix(string(name), v1.ResourceAttachableVolumesPrefix)
}

// isExtended reports whether a resource is not defined by Kubernetes.
func isExtended(name v1.ResourceName) bool {
	s := string(name)
	return strings.Contains(s, "/") && !strings.Contains(s, v1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(s, v1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(v1.DefaultResourceRequestsPrefix+s)) == 0
}

// requested returns the requests of a new pod. Extended resources that the node does not have are
// left out: another part of the cluster may account for them.
func requested(p *v1.Pod, capacity amounts) amounts {
	known := *p
	known.Spec.Containers = withoutUnknown(p.Spec.Containers, capacity)
	known.Spec.InitContainers = withoutUnknown(p.Spec.InitContainers, capacity)
	wants := amountsOf(resource.PodRequests(&known, resource.PodResourcesOptions{}))
	wants[v1.ResourcePods] = 1
	return wants
}

func withoutUnknown(containers []v1.Container, capacity amounts) []v1.Container {
	out := slices.Clone(containers)
	for i := range out {
		requests := maps.Clone(out[i].Resources.Requests)
		maps.DeleteFunc(requests, func(name v1.ResourceName, _ quantity.Quantity) bool {
			_, has := capacity[name]
			return !has && isExtended(name)
		})
		out[i].Resources.Requests = requests
	}
	return out
}

// usedBy returns the amounts that the pods on the node use. Amounts of a resize in progress are in
// the pods' statuses.
func usedBy(users []*v1.Pod) amounts {
	used := amounts{}
	for _, p := range users {
		has := amountsOf(resource.PodRequests(p, resource.PodResourcesOptions{
			UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true,
		}))
		for name, n := range has {
			used[name] = plus(used[name], n)
		}
	}
	used[v1.ResourcePods] = int64(len(users))
	return used
}

// shortages returns the resources of which the node has too little beside its users.
func shortages(wants amounts, users []*v1.Pod, capacity amounts) []shortage {
	var short []shortage
	used := usedBy(users)
	for _, name := range inOrder(wants) {
		if n := wants[name]; n > 0 && n > capacity[name]-used[name] {
			short = append(short, shortage{name, n, used[name], capacity[name]})
		}
	}
	return short
}

func inOrder(wants amounts) []v1.ResourceName {
	scalars := slices.Sorted(maps.Keys(wants))
	scalars = slices.DeleteFunc(scalars, func(name v1.ResourceName) bool { return slices.Contains(ownResources, name) })
	return append(slices.Clone(ownResources), scalars...)
}
