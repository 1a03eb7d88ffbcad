package rivals

import (
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Native is the rule in Go on the pod itself: the lower bound for the other engines.
func Native(p *v1.Pod) bool {
	if _, ok := p.Labels["app.kubernetes.io/name"]; !ok {
		return false
	}
	if _, ok := p.Labels["team"]; !ok {
		return false
	}
	for _, list := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			if !goodImage(list[i].Image) || !confined(list[i].SecurityContext) {
				return false
			}
		}
	}
	for i := range p.Spec.EphemeralContainers {
		if c := &p.Spec.EphemeralContainers[i]; !goodImage(c.Image) || !confined(c.SecurityContext) {
			return false
		}
	}
	return true
}

func goodImage(image string) bool {
	return strings.HasPrefix(image, "registry.example/") &&
		(strings.Contains(image, "@") || strings.Contains(image, ":") && !strings.HasSuffix(image, ":latest"))
}

func confined(s *v1.SecurityContext) bool {
	is := func(b *bool) bool { return b != nil && *b }
	return s != nil && !is(s.Privileged) && !is(s.AllowPrivilegeEscalation) && is(s.RunAsNonRoot)
}
