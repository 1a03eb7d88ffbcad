package pod

import (
	"errors"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
)

// SandboxRun is everything the runtime needs to make a sandbox.
type SandboxRun struct {
	Pod *v1.Pod
	// Attempt numbers the sandboxes of this pod from 0.
	Attempt uint32
	// CgroupParent is the pod's cgroup, already made.
	CgroupParent string
	// Seen is when the agent first saw the pod; it becomes config.seen.
	Seen time.Time
	// Document is the ID of the document the pod was made from.
	Document string
	// Instance is that of the pod as its source has it, where policies have
	// changed it; else empty, and Pod tells it.
	Instance string
}

// ContainerRun is everything the runtime needs to create and start a
// container in a sandbox.
type ContainerRun struct {
	Pod       *v1.Pod
	Container *v1.Container
	// SandboxID and SandboxIPs are those of the ready sandbox.
	SandboxID  string
	SandboxIPs []string
	// Sandbox is what the sandbox was made with; the runtime's protocol
	// wants it again.
	Sandbox SandboxRun
	// TargetID is the container whose processes this one sees, an ephemeral one; empty for none.
	TargetID string
	// Attempt is the restart count, from 0.
	Attempt uint32
	// ImageRef is the image's ID as the runtime reported it.
	ImageRef string
	// Mounts are the volume mounts, resolved to host paths.
	Mounts []Mount
}

// Mount is a host path inside a container.
type Mount struct {
	HostPath      string
	ContainerPath string
	ReadOnly      bool
	// RecursiveReadOnly makes what is mounted below it read-only, too.
	RecursiveReadOnly bool
	// Propagation is whether mounts made later, here or there, are seen on the other side; empty for neither.
	Propagation v1.MountPropagationMode
}

// RecursiveReadOnly reports whether what is mounted below a volume's mount is read-only, too. supported is whether the runtime
// can do that; the error is that it cannot, and has to.
func RecursiveReadOnly(m *v1.VolumeMount, supported bool) (bool, error) {
	switch {
	case m.RecursiveReadOnly == nil || *m.RecursiveReadOnly == v1.RecursiveReadOnlyDisabled || !m.ReadOnly:
		return false, nil
	case *m.RecursiveReadOnly == v1.RecursiveReadOnlyEnabled && !supported:
		return false, errors.New("the runtime cannot make mounts read-only recursively; use recursiveReadOnly IfPossible or Disabled, or another runtime class")
	}
	return supported, nil
}

// AsksRecursiveReadOnly reports whether a mount of the container wants to be read-only recursively, if possible or in any case.
func AsksRecursiveReadOnly(c *v1.Container) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m v1.VolumeMount) bool {
		return m.RecursiveReadOnly != nil && *m.RecursiveReadOnly != v1.RecursiveReadOnlyDisabled
	})
}
