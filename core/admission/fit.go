package admission

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Fit decides whether a pod may run on the node and whether there is room for it, by a kubelet's
// predicates. For a critical pod without enough room, it finds pods to preempt.
type Fit struct {
	// Node returns the node as it is now. Fit uses its name, labels, taints, allocatable resources and
	// features. Node must not block.
	Node func() *v1.Node
	// Critical decides which pods are critical.
	Critical pod.Criticality
}

// fault is one reason why a pod does not fit.
type fault struct {
	reason, message string
	// short is the resource of which there is not enough, nil if the reason is not a shortage.
	short *shortage
}

func (f *fault) result() Result { return Result{Reason: f.reason, Message: f.message} }

// Admit implements Handler. If a fault does not depend on room, the first such fault is the result.
// All other faults are collected, because preemption for a critical pod helps only if all of them
// are shortages.
func (f Fit) Admit(a *Attributes) Result {
	node := withOS(f.Node())
	for _, check := range []func(*v1.Pod, *v1.Node) *fault{osLabel, osField, groupsPolicy} {
		if fault := check(a.Pod, node); fault != nil {
			return fault.result()
		}
	}
	capacity := amountsOf(node.Status.Allocatable)
	wants := requested(a.Pod, capacity)
	users := slices.Concat(a.Others, a.Ending)

	var faults []fault
	for _, s := range shortages(wants, users, capacity) {
		faults = append(faults, s.fault())
	}
	for _, check := range []func(*v1.Pod, *v1.Node, []*v1.Pod) *fault{nodeAffinity, nodeName, hostPorts, taints} {
		if fault := check(a.Pod, node, users); fault != nil {
			faults = append(faults, *fault)
		}
	}
	switch {
	case len(faults) == 0:
		return Result{Admitted: true}
	case f.Critical.Critical(a.Pod):
		return f.makeRoom(a, wants, capacity, faults)
	}
	return faults[0].result()
}

// makeRoom returns the result for a critical pod that does not fit. Shortages do not lead to a
// refusal if preemption of other pods is enough.
func (f Fit) makeRoom(a *Attributes, wants, capacity amounts, faults []fault) Result {
	for i := range faults {
		if faults[i].short == nil {
			return faults[i].result()
		}
	}
	lacks := shortages(wants, a.Others, capacity) // after the termination of the pods in a.Ending
	chosen, enough := victims(f.candidates(a), lacks)
	if !enough {
		r := faults[0].result()
		r.Message += "; it would not fit even if all pods ended that give way to it"
		return r
	}
	lacks = shortages(wants, slices.Concat(a.Others, a.Ending), capacity)
	return Result{Admitted: true, Preemption: &Preemption{Victims: chosen, Await: needsOf(lacks).without(chosen).first(a.Ending)}}
}

// candidates returns the pods that may be preempted for the pod of a.
func (f Fit) candidates(a *Attributes) []*v1.Pod {
	var candidates []*v1.Pod
	for _, p := range a.Others {
		if f.Critical.GivesWay(p, a.Pod) {
			candidates = append(candidates, p)
		}
	}
	return candidates
}
