package server

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/internal/nearest"
	"github.com/wardlet/wardlet/core/pod"
)

// podName is the name of a pod in a request: the pod's own name, or the name in its manifest, which
// lacks the node's name.
type podName struct{ namespace, name, node string }

// is reports whether name is the pod's own name, or the name of the pod that a manifest with this
// name creates.
func (n podName) is(name string) bool {
	return name == n.name || n.node != "" && name == n.name+"-"+n.node
}

func (n podName) of(p *v1.Pod) bool {
	return p.Namespace == n.namespace && (n.is(p.Name) || pod.Identity(p).Name == n.name)
}

// find returns the pod with the name, nil if there is none. It prefers the pod with exactly this
// name, and then the pod that is not terminating.
func (n podName) find(pods []v1.Pod) *v1.Pod {
	var found *v1.Pod
	best := -1
	for i := range pods {
		p := &pods[i]
		rank := 0
		if p.Name == n.name {
			rank += 2
		}
		if p.DeletionTimestamp == nil {
			rank++
		}
		if n.of(p) && rank > best {
			found, best = p, rank
		}
	}
	return found
}

// unknown returns the message that there is no such pod, with similar names among known, which are
// NAMESPACE/NAME.
func (n podName) unknown(known []string) string {
	asked := n.namespace + "/" + n.name
	text := "nothing is known of a pod " + asked
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	for _, name := range known {
		if bare, ok := strings.CutSuffix(name, "-"+n.node); ok && n.node != "" {
			known = append(known, bare)
		}
	}
	var near []string
	for _, name := range known {
		if strings.HasSuffix(name, "/"+n.name) || strings.HasSuffix(name, "/"+n.name+"-"+n.node) {
			near = append(near, name) // the same pod name in another namespace
		}
	}
	for range 3 - min(3, len(near)) {
		name, ok := nearest.Word(asked, known)
		if !ok {
			break
		}
		near = append(near, name)
		known = slices.DeleteFunc(known, func(k string) bool { return k == name })
	}
	if len(near) > 0 {
		return fmt.Sprintf("%s; did you mean %s?", text, strings.Join(near[:min(len(near), 3)], " or "))
	}
	return text + `; "wardlet get pods" shows those of this node`
}
