package node

import (
	"testing"

	v1 "k8s.io/api/core/v1"
)

func TestObject_Update(t *testing.T) {
	t.Parallel()
	o := NewObject(&v1.Node{Spec: v1.NodeSpec{PodCIDR: "10.0.0.0/24"}})
	first, generation := o.Get()
	changed := o.Changed()
	if o.Update(func(n *v1.Node) { n.Spec.PodCIDR = "10.0.0.0/24" }) {
		t.Error("an update that changes nothing counts as a change")
	}
	select {
	case <-changed:
		t.Fatal("told of a change that there was not")
	default:
	}
	if !o.Update(func(n *v1.Node) { n.Spec.Unschedulable = true }) {
		t.Error("a change does not count")
	}
	<-changed
	second, next := o.Get()
	if first.Spec.Unschedulable || !second.Spec.Unschedulable || next != generation+1 {
		t.Errorf("shared node changed: %v; new node %v, generation %d after %d", first.Spec, second.Spec, next, generation)
	}
}
