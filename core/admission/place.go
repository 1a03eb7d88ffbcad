package admission

import (
	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/wardlet/wardlet/core/pod"
)

// predicate returns a fault in a scheduler's wording.
func predicate(name, why string) *fault {
	return &fault{reason: name, message: "Predicate " + name + " failed: " + why}
}

// nodeAffinity refuses a pod whose node selector or required node affinity does not match the node.
// A selector or affinity that cannot be parsed matches no node.
func nodeAffinity(p *v1.Pod, node *v1.Node, _ []*v1.Pod) *fault {
	if matches, _ := nodeaffinity.GetRequiredNodeAffinity(p).Match(node); matches {
		return nil
	}
	return predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
}

func nodeName(p *v1.Pod, node *v1.Node, _ []*v1.Pod) *fault {
	if p.Spec.NodeName == "" || p.Spec.NodeName == node.Name {
		return nil
	}
	return predicate("NodeName", "node(s) didn't match the requested node name")
}

// taints refuses pods that would be evicted at once because of the node's taints. Static pods are
// never evicted for taints.
func taints(p *v1.Pod, node *v1.Node, _ []*v1.Pod) *fault {
	if pod.IsStatic(p) {
		return nil
	}
	expels := func(t *v1.Taint) bool { return t.Effect == v1.TaintEffectNoExecute }
	if _, untolerated := corev1.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, p.Spec.Tolerations, expels, false); !untolerated {
		return nil
	}
	return predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")
}
