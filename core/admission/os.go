package admission

import (
	"maps"
	"runtime"

	v1 "k8s.io/api/core/v1"
)

// withOS returns the node with the label of this operating system, regardless of its own label. A
// node without labels is returned unchanged.
func withOS(node *v1.Node) *v1.Node {
	if len(node.Labels) == 0 || node.Labels[v1.LabelOSStable] == runtime.GOOS {
		return node
	}
	out := *node
	out.Labels = maps.Clone(node.Labels)
	out.Labels[v1.LabelOSStable] = runtime.GOOS
	return &out
}

// osLabel checks the label kubernetes.io/os of the pod, as a kubelet does, and not its node
// selector. A pod with that label needs that operating system.
func osLabel(p *v1.Pod, _ *v1.Node) *fault {
	if of, labelled := p.Labels[v1.LabelOSStable]; labelled && of != runtime.GOOS {
		return &fault{
			reason:  "PodOSSelectorNodeLabelDoesNotMatch",
			message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
		}
	}
	return nil
}

func osField(p *v1.Pod, _ *v1.Node) *fault {
	if p.Spec.OS != nil && string(p.Spec.OS.Name) != runtime.GOOS {
		return &fault{reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS"}
	}
	return nil
}

// groupsPolicy refuses strict supplemental groups if the runtime does not report that it supports
// them.
func groupsPolicy(p *v1.Pod, node *v1.Node) *fault {
	c := p.Spec.SecurityContext
	if c == nil || c.SupplementalGroupsPolicy == nil || *c.SupplementalGroupsPolicy != v1.SupplementalGroupsPolicyStrict {
		return nil
	}
	if f := node.Status.Features; f != nil && f.SupplementalGroupsPolicy != nil && *f.SupplementalGroupsPolicy {
		return nil
	}
	return &fault{
		reason: "SupplementalGroupsPolicyNotSupported", message: "SupplementalGroupsPolicy=Strict is not supported in this node",
	}
}
