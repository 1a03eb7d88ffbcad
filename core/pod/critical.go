package pod

import v1 "k8s.io/api/core/v1"

// lowestCritical is the lowest priority that makes a pod critical.
const lowestCritical = 2_000_000_000

// Criticality determines which pods are critical. The node preempts other pods for them, and they
// are preempted only for pods of a higher priority.
type Criticality struct {
	// Static makes all static pods critical, as with a kubelet. On a node that has only static
	// pods, no pod could then be preempted.
	Static bool
	// Highest returns the highest priority allowed for pods of a namespace, false for no limit; nil
	// for no limits at all. A higher priority counts as that one.
	Highest func(namespace string) (highest int32, ok bool)
	// Named reports whether the node's operator has named the pod; nil for none.
	Named func(p *v1.Pod) bool
}

// Critical reports whether the pod is critical: by its priority, because the operator named it, or
// as a static pod if Static is set.
func (c Criticality) Critical(p *v1.Pod) bool {
	priority, ok := c.priority(p)
	return ok && priority >= lowestCritical ||
		c.Named != nil && c.Named(p) ||
		c.Static && (IsStatic(p) || IsMirror(p))
}

// GivesWay reports whether p may be preempted to make room for the pod to.
func (c Criticality) GivesWay(p, to *v1.Pod) bool {
	if c.Critical(to) && !c.Critical(p) {
		return true
	}
	theirs, known := c.priority(to)
	own, ok := c.priority(p)
	return ok && known && theirs > own
}

// Rank returns the priority of a pod for the order in which a shutdown of the machine terminates
// pods: its effective priority, 0 for none, and at least that of critical pods if the operator named
// the pod. As in a kubelet, Static has no effect.
func (c Criticality) Rank(p *v1.Pod) int32 {
	rank, _ := c.priority(p)
	if c.Named != nil && c.Named(p) {
		return max(rank, lowestCritical)
	}
	return rank
}

// priority returns the effective priority of a pod, false if it has none.
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
