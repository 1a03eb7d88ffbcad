package pod

import (
	"strings"

	v1 "k8s.io/api/core/v1"
)

// annotationAppArmor, followed by the name of a container, is the annotation with which pods of an
// old API server specify its AppArmor profile. annotationLocalhost is the prefix of a profile's
// name.
const (
	annotationAppArmor   = "container.apparmor.security.beta.kubernetes.io/"
	annotationLocalhost  = "localhost/"
	annotationDefault    = "runtime/default"
	annotationUnconfined = "unconfined"
)

// AppArmorProfile returns the profile of a container, nil if none is specified: its own, else that
// of an annotation, else the pod's.
func AppArmorProfile(p *v1.Pod, c *v1.Container) *v1.AppArmorProfile {
	if c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
		return c.SecurityContext.AppArmorProfile
	}
	if said, ok := p.Annotations[annotationAppArmor+c.Name]; ok {
		name, local := strings.CutPrefix(said, annotationLocalhost)
		switch {
		case said == annotationDefault:
			return &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeRuntimeDefault}
		case said == annotationUnconfined:
			return &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeUnconfined}
		case local:
			return &v1.AppArmorProfile{Type: v1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}
		}
	}
	if p.Spec.SecurityContext != nil {
		return p.Spec.SecurityContext.AppArmorProfile
	}
	return nil
}

// NeedsAppArmor reports whether the pod asks for a profile anywhere in its spec or annotations.
func NeedsAppArmor(p *v1.Pod) bool {
	confined := func(a *v1.AppArmorProfile) bool { return a != nil && a.Type != v1.AppArmorProfileTypeUnconfined }
	if s := p.Spec.SecurityContext; s != nil && confined(s.AppArmorProfile) {
		return true
	}
	for c := range Containers(p) {
		if s := c.SecurityContext; s != nil && confined(s.AppArmorProfile) {
			return true
		}
	}
	for key, value := range p.Annotations {
		if strings.HasPrefix(key, annotationAppArmor) && value != annotationUnconfined {
			return true
		}
	}
	return false
}
