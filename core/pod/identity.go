package pod

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Identity is what two documents must share to be in conflict: the namespace
// plus the identity annotation where it is set, else the name.
func Identity(p *v1.Pod) types.NamespacedName {
	if name := p.Annotations[AnnotationIdentity]; name != "" {
		return types.NamespacedName{Namespace: p.Namespace, Name: name}
	}
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// FullName is "<name>_<namespace>", the key by which static pods exclude each
// other.
func FullName(p *v1.Pod) string { return p.Name + "_" + p.Namespace }

// SourceAPI is the name of the source that is the API server, and of no other.
const SourceAPI = "api"

// IsStatic reports whether p comes from the node itself, not from an API
// server.
func IsStatic(p *v1.Pod) bool {
	source, ok := p.Annotations[AnnotationSource]
	return ok && source != SourceAPI
}

// IsMirror reports whether p is the API server's picture of a static pod.
func IsMirror(p *v1.Pod) bool {
	_, ok := p.Annotations[AnnotationMirror]
	return ok
}

// IsTerminal reports whether the phase is one a pod never leaves.
func IsTerminal(phase v1.PodPhase) bool {
	return phase == v1.PodSucceeded || phase == v1.PodFailed
}
