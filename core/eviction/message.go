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

// message returns the message of a pod that is evicted because a threshold is met.
func message(p *v1.Pod, t *threshold.Threshold, o Observation, u Usage) string {
	name := resourceOf(t.Signal)
	amount, format := t.Value.Of(o.Capacity), resource.BinarySI
	if name == inodes || name == pids {
		format = resource.DecimalSI
	}
	var text strings.Builder
	fmt.Fprintf(&text, messageLow+messageThreshold, name, &amount, resource.NewQuantity(o.Available, format))
	if u.Unknown || name == inodes || name == pids { // these cannot be requested
		return text.String()
	}
	if name == v1.ResourceMemory && helper.IsPodLevelResourcesSet(p) {
		if wants, ok := p.Spec.Resources.Requests[name]; ok {
			fmt.Fprintf(&text, messagePod, p.Name, resource.NewQuantity(u.Total, resource.BinarySI), &wants, name)
		}
	}
	for c, kind := range pod.Containers(p) {
		used, known := u.Containers[c.Name]
		wants := c.Resources.Requests[name]
		if known && kind != pod.EphemeralContainer && wants.CmpInt64(used) < 0 {
			fmt.Fprintf(&text, messageContainer, c.Name, resource.NewQuantity(used, resource.BinarySI), &wants, name)
		}
	}
	return text.String()
}
