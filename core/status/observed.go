package status

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ObservedPod is one pod as the runtime shows it, from the marks on its sandboxes and containers. A
// listing sets IDs, names, attempts, states and creation times; an inspection sets all fields.
type ObservedPod struct {
	UID       types.UID
	Name      string
	Namespace string
	// Sandboxes and Containers come newest first (attempt, then creation).
	Sandboxes  []ObservedSandbox
	Containers []ObservedContainer
	// IPs are those of the newest ready sandbox.
	IPs []string
}

// ObservedSandbox is one sandbox of a pod.
type ObservedSandbox struct {
	ID        string
	Attempt   uint32
	Ready     bool
	CreatedAt time.Time
	// HostNetwork is true when the sandbox shares the node's network.
	HostNetwork bool
	IPs         []string
	Labels      map[string]string
	Annotations map[string]string
}

// ObservedContainer is one instance of a container.
type ObservedContainer struct {
	ID        string
	SandboxID string
	Name      string
	// Attempt is the restart count of this instance.
	Attempt    uint32
	State      ContainerState
	CreatedAt  time.Time
	StartedAt  time.Time
	FinishedAt time.Time
	ExitCode   int32
	Reason     string
	Message    string
	// Image is the runtime's name for the image, or the requested name if the runtime shows none.
	// ImageRef is the ID or digest to which it resolved.
	Image    string
	ImageRef string
	// Hash is the definition hash with which the container was created.
	Hash    string
	LogPath string
	// Labels and Annotations are those with which the container was created.
	Labels      map[string]string
	Annotations map[string]string
	// StopSignal is the signal that stops the container, empty if the runtime shows none.
	StopSignal v1.Signal
	// User is the user of the first process, nil if the runtime shows none.
	User *v1.LinuxContainerUser
}

// ContainerState is the state of a container in the runtime.
type ContainerState string

// The states a runtime reports.
const (
	StateCreated ContainerState = "created"
	StateRunning ContainerState = "running"
	StateExited  ContainerState = "exited"
	StateUnknown ContainerState = "unknown"
)

// Running reports whether a container of p runs.
func (p *ObservedPod) Running() bool {
	for i := range p.Containers {
		if p.Containers[i].State == StateRunning {
			return true
		}
	}
	return false
}

// Active reports whether p has a ready sandbox or a running container.
func (p *ObservedPod) Active() bool {
	for i := range p.Sandboxes {
		if p.Sandboxes[i].Ready {
			return true
		}
	}
	return p.Running()
}

// Newest returns the newest instance of the named container, nil if there is none.
func (p *ObservedPod) Newest(name string) *ObservedContainer {
	for i := range p.Containers {
		if p.Containers[i].Name == name {
			return &p.Containers[i]
		}
	}
	return nil
}

// Source returns the name of the source for which the pod's newest sandbox was made.
func (p *ObservedPod) Source() string {
	if len(p.Sandboxes) == 0 {
		return ""
	}
	return p.Sandboxes[0].Annotations["kubernetes.io/config.source"]
}

// ChangeKind says how much of a change an inspection shows when the runtime reports the change.
type ChangeKind string

// The kinds of changes.
const (
	// ChangeCreated is a container or sandbox that exists and does not run yet. Its start is
	// reported too, unless it fails.
	ChangeCreated ChangeKind = "made"
	// ChangeVisible is a change that an inspection shows.
	ChangeVisible ChangeKind = "done"
	// ChangeRemoving is a sandbox that is being removed and may be shown for a moment longer. The
	// completion of its removal is not reported.
	ChangeRemoving ChangeKind = "leaving"
)

// PodChange is a change of a pod that the runtime reports.
type PodChange struct {
	// UID is the UID of the pod, empty if the runtime no longer knows it.
	UID types.UID
	// ID is the ID of the container or sandbox.
	ID   string
	Kind ChangeKind
	// At is when the change happened according to the runtime's wall clock, zero if the runtime
	// does not say.
	At time.Time
}

// RuntimeName is the scheme of container IDs.
const RuntimeName = "containerd"
