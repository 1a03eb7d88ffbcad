package eviction

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/eviction/threshold"
	"github.com/wardlet/wardlet/core/pod"
)

// The parts of the message of an evicted pod, in a kubelet's words. The last two name a pod with
// resources of its own, and a container, that use more than they request.
const (
	messageLow       = "The node was low on resource: %v. "
	messageThreshold = "Threshold quantity: %v, available: %v. "
	messagePod       = "Pod %s was using %s, request is %s, has larger consumption of %v. "
	messageContainer = "Container %s was using %s, request is %s, has larger consumption of %v. "
)

// Annotations of the event about an evicted pod, under a kubelet's names: the resource that was low,
// and the containers that use more than they request, in one order with what each uses, both
// separated by commas. The last two are of a pod with resources of its own.
const (
	annotationResource        = "starved_resource"
	annotationContainers      = "offending_containers"
	annotationContainersUsage = "offending_containers_usage"
	annotationPod             = "offending_pod"
	annotationPodUsage        = "offending_pod_usage"
)

// message returns the message of a pod that is evicted because a threshold is met, and the
// annotations of its event. As with a kubelet, there are none if what the pod uses is not known.
func message(p *v1.Pod, t *threshold.Threshold, o Observation, u Usage) (string, map[string]string) {
	name := resourceOf(t.Signal)
	amount, format := t.Value.Of(o.Capacity), resource.BinarySI
	if name == inodes || name == pids {
		format = resource.DecimalSI
	}
	var text strings.Builder
	fmt.Fprintf(&text, messageLow+messageThreshold, name, &amount, resource.NewQuantity(o.Available, format))
	if u.Unknown {
		return text.String(), nil
	}
	annotations := map[string]string{annotationResource: string(name), annotationContainers: "", annotationContainersUsage: ""}
	if name == inodes || name == pids { // these cannot be requested
		return text.String(), annotations
	}
	if name == v1.ResourceMemory && helper.IsPodLevelResourcesSet(p) {
		if wants, ok := p.Spec.Resources.Requests[name]; ok {
			total := resource.NewQuantity(u.Total, resource.BinarySI)
			fmt.Fprintf(&text, messagePod, p.Name, total, &wants, name)
			annotations[annotationPod], annotations[annotationPodUsage] = p.Name, total.String()
		}
	}
	var names, amounts []string
	for c, kind := range pod.Containers(p) {
		used, known := u.Containers[c.Name]
		wants := c.Resources.Requests[name]
		if known && kind != pod.EphemeralContainer && wants.CmpInt64(used) < 0 {
			uses := resource.NewQuantity(used, resource.BinarySI)
			fmt.Fprintf(&text, messageContainer, c.Name, uses, &wants, name)
			names, amounts = append(names, c.Name), append(amounts, uses.String())
		}
	}
	annotations[annotationContainers], annotations[annotationContainersUsage] = strings.Join(names, ","), strings.Join(amounts, ",")
	return text.String(), annotations
}
