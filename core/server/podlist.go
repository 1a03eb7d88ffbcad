package server

import (
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// podList is list as a client gets it, its pods as podShown returns them.
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
	if !showEnv {
		p = pod.Redacted(p)
	}
	out := *p
	out.APIVersion, out.Kind = "v1", "Pod"
	return out
}
