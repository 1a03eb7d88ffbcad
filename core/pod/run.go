package pod

import (
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
	// Propagation is whether mounts made later, here or there, are seen on the other side; empty for neither.
	Propagation v1.MountPropagationMode
}
