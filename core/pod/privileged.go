package pod

import v1 "k8s.io/api/core/v1"

// Privileged reports whether a container of the pod is privileged.
func Privileged(p *v1.Pod) bool {
	for _, list := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			if s := list[i].SecurityContext; s != nil && s.Privileged != nil && *s.Privileged {
				return true
			}
		}
	}
	return false
}
