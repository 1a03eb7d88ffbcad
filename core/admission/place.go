package admission

import (
	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/wardlet/wardlet/core/pod"
)

// predicate is a fault in the words of a scheduler.
func predicate(name, why string) *fault {
	return &fault{reason: name, message: "Predicate " + name + " failed: " + why}
}

// nodeAffinity wants the node that the pod's node selector and its required node
// affinity name. One that cannot be read matches no node.
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

// taints refuses pods that would have to leave at once. Static pods stay, whatever
// the node's taints.
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
