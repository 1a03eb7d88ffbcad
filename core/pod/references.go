package pod

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// Reference is a ConfigMap or Secret in a pod's namespace to which the pod refers.
type Reference struct {
	// Secret is false for a ConfigMap.
	Secret bool
	Name   string
	// Optional is true if every reference of the pod to it is optional.
	Optional bool
}

// References returns the ConfigMaps and Secrets to which a pod refers in its volumes, its
// environment and its pull secrets, each once: ConfigMaps first, sorted by name. Those that a
// volume driver reads are not included.
func References(p *v1.Pod) []Reference {
	var all []Reference
	add := func(secret bool, name string, optional *bool) {
		if name != "" {
			all = append(all, Reference{secret, name, optional != nil && *optional})
		}
	}
	for i := range p.Spec.ImagePullSecrets {
		add(true, p.Spec.ImagePullSecrets[i].Name, new(true))
	}
	for i := range p.Spec.Volumes {
		volume := &p.Spec.Volumes[i]
		if c := volume.ConfigMap; c != nil {
			add(false, c.Name, c.Optional)
		}
		if s := volume.Secret; s != nil {
			add(true, s.SecretName, s.Optional)
		}
		if volume.Projected == nil {
			continue
		}
		for j := range volume.Projected.Sources {
			if c := volume.Projected.Sources[j].ConfigMap; c != nil {
				add(false, c.Name, c.Optional)
			}
			if s := volume.Projected.Sources[j].Secret; s != nil {
				add(true, s.Name, s.Optional)
			}
		}
	}
	for c := range Containers(p) {
		for i := range c.EnvFrom {
			if r := c.EnvFrom[i].ConfigMapRef; r != nil {
				add(false, r.Name, r.Optional)
			}
			if r := c.EnvFrom[i].SecretRef; r != nil {
				add(true, r.Name, r.Optional)
			}
		}
		for i := range c.Env {
			from := c.Env[i].ValueFrom
			if from == nil {
				continue
			}
			if r := from.ConfigMapKeyRef; r != nil {
				add(false, r.Name, r.Optional)
			}
			if r := from.SecretKeyRef; r != nil {
				add(true, r.Name, r.Optional)
			}
		}
	}
	slices.SortFunc(all, compareReferences)
	return slices.CompactFunc(all, func(a, b Reference) bool { return a.Secret == b.Secret && a.Name == b.Name })
}

// ServiceNamespaces returns the namespaces whose services the containers of a pod have in their
// environment: that of the API server's own service, and, unless the pod disables it, its own.
func ServiceNamespaces(p *v1.Pod) []string {
	all := []string{v1.NamespaceDefault}
	if HasServiceLinks(p) && p.Namespace != v1.NamespaceDefault {
		all = append(all, p.Namespace)
	}
	return all
}

// HasServiceLinks reports whether the containers of a pod have the services of its namespace in their
// environment.
func HasServiceLinks(p *v1.Pod) bool {
	return p.Spec.EnableServiceLinks == nil || *p.Spec.EnableServiceLinks
}

// compareReferences orders references. If several refer to the same object, one that is not
// optional comes first.
func compareReferences(a, b Reference) int {
	number := func(x bool) int {
		if x {
			return 1
		}
		return 0
	}
	return cmp.Or(number(a.Secret)-number(b.Secret), cmp.Compare(a.Name, b.Name), number(a.Optional)-number(b.Optional))
}
