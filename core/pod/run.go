package pod

import (
	"errors"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// SandboxRun is everything that the runtime needs to make a sandbox.
type SandboxRun struct {
	Pod *v1.Pod
	// Attempt is the number of the sandbox of this pod, from 0.
	Attempt uint32
	// CgroupParent is the pod's cgroup, already made.
	CgroupParent string
	// Seen is when the agent first saw the pod; it becomes config.seen.
	Seen time.Time
	// Document is the ID of the document from which the pod was made.
	Document string
	// Instance is the Instance of the pod from its source, if policies have changed the pod. Else
	// it is empty, and is computed from Pod.
	Instance string
}

// ContainerRun is everything that the runtime needs to create and start a container in a sandbox.
type ContainerRun struct {
	Pod       *v1.Pod
	Container *v1.Container
	// SandboxID and SandboxIPs are those of the ready sandbox.
	SandboxID  string
	SandboxIPs []string
	// Sandbox is the configuration of the sandbox, which the CRI requires again.
	Sandbox SandboxRun
	// TargetID is, for an ephemeral container, the container whose processes it sees; empty for
	// none.
	TargetID string
	// Attempt is the restart count, from 0.
	Attempt uint32
	// ImageRef is the image's ID as the runtime reported it.
	ImageRef string
	// Mounts are the volume mounts, resolved to host paths.
	Mounts []Mount
}

// Mount is a host path mounted in a container.
type Mount struct {
	HostPath      string
	ContainerPath string
	ReadOnly      bool
	// RecursiveReadOnly makes the mounts below it read-only, too.
	RecursiveReadOnly bool
	// Propagation is whether later mounts are propagated between host and container; empty for
	// neither direction.
	Propagation v1.MountPropagationMode
}

// RecursiveReadOnly reports whether the mounts below a volume's mount are read-only, too. supported
// is whether the runtime can do that. It returns an error if it is required but not supported.
func RecursiveReadOnly(m *v1.VolumeMount, supported bool) (bool, error) {
	switch {
	case m.RecursiveReadOnly == nil || *m.RecursiveReadOnly == v1.RecursiveReadOnlyDisabled || !m.ReadOnly:
		return false, nil
	case *m.RecursiveReadOnly == v1.RecursiveReadOnlyEnabled && !supported:
		return false, errors.New("the runtime cannot make mounts read-only recursively; use recursiveReadOnly IfPossible or Disabled, or another runtime class")
	}
	return supported, nil
}

// AsksRecursiveReadOnly reports whether a mount of the container asks to be read-only recursively,
// if possible or in any case.
func AsksRecursiveReadOnly(c *v1.Container) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m v1.VolumeMount) bool {
		return m.RecursiveReadOnly != nil && *m.RecursiveReadOnly != v1.RecursiveReadOnlyDisabled
	})
}
