package question

import (
	v1 "k8s.io/api/core/v1"
)

// Variation changes a pod.
type Variation struct {
	Name  string
	Apply func(p *v1.Pod)
}

// The labels that the rule requires.
const (
	labelName = "app.kubernetes.io/name"
	labelTeam = "team"
)

// Faults returns the ways to break the rule, one at a time.
func Faults() []Variation {
	all := []Variation{
		{"no labels", func(p *v1.Pod) { p.Labels = nil }},
		{"no label " + labelName, func(p *v1.Pod) { delete(p.Labels, labelName) }},
		{"no label " + labelTeam, func(p *v1.Pod) { delete(p.Labels, labelTeam) }},
		{"a label that only begins like one", func(p *v1.Pod) {
			delete(p.Labels, labelTeam)
			p.Labels["team-a"] = "storefront"
		}},
	}
	for _, f := range containerFaults {
		all = append(all,
			Variation{"the init container: " + f.name, func(p *v1.Pod) { f.apply(&p.Spec.InitContainers[0]) }},
			Variation{"the first container: " + f.name, func(p *v1.Pod) { f.apply(&p.Spec.Containers[0]) }},
			Variation{"the last container: " + f.name, func(p *v1.Pod) { f.apply(&p.Spec.Containers[2]) }},
			Variation{"an ephemeral container: " + f.name, func(p *v1.Pod) {
				c := p.Spec.Containers[0].DeepCopy()
				c.Name = "debugger"
				f.apply(c)
				p.Spec.EphemeralContainers = []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon(*c)}}
			}})
	}
	return all
}

var containerFaults = []struct {
	name  string
	apply func(c *v1.Container)
}{
	{"an image of another registry", func(c *v1.Container) { c.Image = "evil.example/shop/web:1.2.3" }},
	{"an image of a registry with a longer name", func(c *v1.Container) { c.Image = "registry.example.org/shop/web:1.2.3" }},
	{"an image without a tag", func(c *v1.Container) { c.Image = "registry.example/shop/web" }},
	{"the latest image", func(c *v1.Container) { c.Image = "registry.example/shop/web:latest" }},
	{"no image", func(c *v1.Container) { c.Image = "" }},
	{"privileged", func(c *v1.Container) { c.SecurityContext.Privileged = new(true) }},
	{"may become privileged", func(c *v1.Container) { c.SecurityContext.AllowPrivilegeEscalation = new(true) }},
	{"may run as root", func(c *v1.Container) { c.SecurityContext.RunAsNonRoot = new(false) }},
	{"does not say whom it runs as", func(c *v1.Container) { c.SecurityContext.RunAsNonRoot = nil }},
	{"no security context", func(c *v1.Container) { c.SecurityContext = nil }},
}

// Allowed returns changes that the rule allows.
func Allowed() []Variation {
	const digest = "@sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	return []Variation{
		{"as it is", func(*v1.Pod) {}},
		{"no annotations", func(p *v1.Pod) { p.Annotations = nil }},
		{"a digest alone", func(p *v1.Pod) { p.Spec.Containers[0].Image = "registry.example/shop/web" + digest }},
		{"the latest image with a digest", func(p *v1.Pod) { p.Spec.Containers[2].Image = "registry.example/shop/web:latest" + digest }},
		{"a tag that only begins with latest", func(p *v1.Pod) { p.Spec.Containers[1].Image = "registry.example/shop/web:latest-2" }},
		{"nothing said of privileges", func(p *v1.Pod) {
			p.Spec.InitContainers[0].SecurityContext = &v1.SecurityContext{RunAsNonRoot: new(true)}
		}},
		{"one container", func(p *v1.Pod) { p.Spec.InitContainers, p.Spec.Containers = nil, p.Spec.Containers[:1] }},
	}
}
