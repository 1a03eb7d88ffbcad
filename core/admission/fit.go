package admission

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Fit judges whether a pod may run on the node and whether there is room for it:
// a kubelet's predicates. For a critical pod it finds pods that give way.
type Fit struct {
	// Node returns the node as it is now, of which Fit looks at name, labels, taints,
	// allocatable resources and features. It does not block.
	Node func() *v1.Node
	// Critical says which pods are critical.
	Critical pod.Criticality
}

// fault is one reason why a pod does not fit.
type fault struct {
	reason, message string
	// short is what there is not enough of, nil where that is not the reason.
	short *shortage
}

func (f *fault) result() Result { return Result{Reason: f.reason, Message: f.message} }

// Admit implements Handler. Of what no room helps the first fault counts; all
// others are gathered, for a critical pod needs to know whether they are only
// shortages.
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

// makeRoom answers for a critical pod that does not fit. Shortages are no reason
// to refuse one where others can give way.
func (f Fit) makeRoom(a *Attributes, wants, capacity amounts, faults []fault) Result {
	for i := range faults {
		if faults[i].short == nil {
			return faults[i].result()
		}
	}
	lacks := shortages(wants, a.Others, capacity) // once those have left that are leaving
	chosen, enough := victims(f.candidates(a), lacks)
	if !enough {
		r := faults[0].result()
		r.Message += "; it would not fit even if all pods ended that give way to it"
		return r
	}
	lacks = shortages(wants, slices.Concat(a.Others, a.Ending), capacity)
	return Result{Admitted: true, Preemption: &Preemption{Victims: chosen, Await: needsOf(lacks).without(chosen).first(a.Ending)}}
}

// candidates are the pods that give way to a pod.
func (f Fit) candidates(a *Attributes) []*v1.Pod {
	var candidates []*v1.Pod
	for _, p := range a.Others {
		if f.Critical.GivesWay(p, a.Pod) {
			candidates = append(candidates, p)
		}
	}
	return candidates
}
