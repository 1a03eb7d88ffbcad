package pod

import v1 "k8s.io/api/core/v1"

// lowestCritical is the lowest priority that makes a pod critical.
const lowestCritical = 2_000_000_000

// Criticality says which pods are critical. The node makes room for them, and they
// give way only to pods of a higher priority.
type Criticality struct {
	// Static makes all static pods critical, as with a kubelet. On a node with no
	// others there is then nothing that could give way.
	Static bool
	// Highest returns the priority that pods of a namespace may have at most, false for
	// any; nil for any everywhere. What is above that counts as that.
	Highest func(namespace string) (highest int32, ok bool)
	// Named reports whether the node's operator has named the pod; nil for none.
	Named func(p *v1.Pod) bool
}

// Critical reports whether the pod is critical: by its priority, because it was
// named, or as a static pod where those are.
func (c Criticality) Critical(p *v1.Pod) bool {
	priority, ok := c.priority(p)
	return ok && priority >= lowestCritical ||
		c.Named != nil && c.Named(p) ||
		c.Static && (IsStatic(p) || IsMirror(p))
}

// GivesWay reports whether p may be ended to make room for another pod.
func (c Criticality) GivesWay(p, to *v1.Pod) bool {
	if c.Critical(to) && !c.Critical(p) {
		return true
	}
	theirs, known := c.priority(to)
	own, ok := c.priority(p)
	return ok && known && theirs > own
}

// priority is what counts of a pod's, false where it has none.
func (c Criticality) priority(p *v1.Pod) (priority int32, ok bool) {
	if p.Spec.Priority == nil {
		return 0, false
	}
	priority = *p.Spec.Priority
	if c.Highest != nil {
		if highest, bounded := c.Highest(p.Namespace); bounded {
			priority = min(priority, highest)
		}
	}
	return priority, true
}
