package server

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Redacted stands for the value of an environment variable.
const Redacted = "<redacted>"

// podList is list as a client gets it, its pods as podShown gives them.
func podList(list *v1.PodList, showEnv bool) *v1.PodList {
	out := &v1.PodList{ListMeta: list.ListMeta, Items: make([]v1.Pod, len(list.Items))}
	out.APIVersion, out.Kind = "v1", "PodList"
	for i := range list.Items {
		out.Items[i] = podShown(&list.Items[i], showEnv)
	}
	return out
}

// podShown is p as a client gets it: marked with kind and version, and without
// the values of environment variables unless showEnv. Pods are shared with the
// whole agent, so what changes is a copy.
func podShown(p *v1.Pod, showEnv bool) v1.Pod {
	if !showEnv && hasEnv(p) {
		p = p.DeepCopy()
		redact(p)
	}
	out := *p
	out.APIVersion, out.Kind = "v1", "Pod"
	return out
}

func hasEnv(p *v1.Pod) bool {
	found := false
	eachEnv(p, func(*v1.EnvVar) { found = true })
	return found
}

func redact(p *v1.Pod) {
	eachEnv(p, func(e *v1.EnvVar) {
		if e.Value != "" {
			e.Value = Redacted
		}
	})
}

// eachEnv visits the environment variables of all containers of p.
func eachEnv(p *v1.Pod, visit func(*v1.EnvVar)) {
	for c := range pod.Containers(p) {
		for i := range c.Env {
			visit(&c.Env[i])
		}
	}
}
