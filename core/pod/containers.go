package pod

import (
	"iter"

	v1 "k8s.io/api/core/v1"
)

// ContainerKind is the kind of a container in its pod. It determines when the container starts,
// whether it restarts, and which list contains its status.
type ContainerKind int

// The kinds of containers, in the order in which they start.
const (
	// InitContainer runs to completion before the next one starts.
	InitContainer ContainerKind = iota
	// Sidecar is an init container with restartPolicy Always. It runs as long as the pod does.
	Sidecar
	// RegularContainer is one of spec.containers.
	RegularContainer
	// EphemeralContainer was added to a running pod, and never restarts.
	EphemeralContainer
)

// Containers yields all containers of a pod with their kinds: init containers and sidecars, regular
// containers, then ephemeral containers, each in the order of the spec. The containers are not
// copied.
func Containers(p *v1.Pod) iter.Seq2[*v1.Container, ContainerKind] {
	return func(yield func(*v1.Container, ContainerKind) bool) {
		for i := range p.Spec.InitContainers {
			c := &p.Spec.InitContainers[i]
			kind := InitContainer
			if IsSidecar(c) {
				kind = Sidecar
			}
			if !yield(c, kind) {
				return
			}
		}
		for i := range p.Spec.Containers {
			if !yield(&p.Spec.Containers[i], RegularContainer) {
				return
			}
		}
		for i := range p.Spec.EphemeralContainers {
			if !yield((*v1.Container)(&p.Spec.EphemeralContainers[i].EphemeralContainerCommon), EphemeralContainer) {
				return
			}
		}
	}
}

// IsSidecar reports whether an init container is a sidecar.
func IsSidecar(c *v1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
}

// Container returns the named container, nil if the pod has none.
func Container(p *v1.Pod, name string) (*v1.Container, ContainerKind) {
	for c, kind := range Containers(p) {
		if c.Name == name {
			return c, kind
		}
	}
	return nil, 0
}

// FieldPath returns the field path of a container for an event; empty if the spec does not have the
// container.
func FieldPath(p *v1.Pod, container string) string {
	list := "containers"
	switch c, kind := Container(p, container); {
	case c == nil:
		return ""
	case kind == InitContainer, kind == Sidecar:
		list = "initContainers"
	case kind == EphemeralContainer:
		list = "ephemeralContainers"
	}
	return "spec." + list + "{" + container + "}"
}

// Privileged reports whether a container of the pod is privileged.
func Privileged(p *v1.Pod) bool {
	for c := range Containers(p) {
		if s := c.SecurityContext; s != nil && s.Privileged != nil && *s.Privileged {
			return true
		}
	}
	return false
}

// Statuses yields the statuses of all containers, in the order of Containers.
func Statuses(st *v1.PodStatus) iter.Seq[*v1.ContainerStatus] {
	return func(yield func(*v1.ContainerStatus) bool) {
		for _, list := range [][]v1.ContainerStatus{st.InitContainerStatuses, st.ContainerStatuses, st.EphemeralContainerStatuses} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// ContainerStatus returns the status of the named container, nil if there is none.
func ContainerStatus(st *v1.PodStatus, name string) *v1.ContainerStatus {
	for c := range Statuses(st) {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// StatusList returns the list of statuses for a kind of containers.
func StatusList(st *v1.PodStatus, kind ContainerKind) *[]v1.ContainerStatus {
	switch kind {
	case InitContainer, Sidecar:
		return &st.InitContainerStatuses
	case EphemeralContainer:
		return &st.EphemeralContainerStatuses
	default:
		return &st.ContainerStatuses
	}
}
