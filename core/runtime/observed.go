package runtime

import (
	"strings"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/status"
)

func listedSandbox(s *runtimeapi.PodSandbox) status.ObservedSandbox {
	return status.ObservedSandbox{
		ID:          s.GetId(),
		Attempt:     s.GetMetadata().GetAttempt(),
		Ready:       s.GetState() == runtimeapi.PodSandboxState_SANDBOX_READY,
		CreatedAt:   timeOf(s.GetCreatedAt()),
		Labels:      s.GetLabels(),
		Annotations: s.GetAnnotations(),
	}
}

func inspectedSandbox(s *runtimeapi.PodSandboxStatus) status.ObservedSandbox {
	observed := status.ObservedSandbox{
		ID:          s.GetId(),
		Attempt:     s.GetMetadata().GetAttempt(),
		Ready:       s.GetState() == runtimeapi.PodSandboxState_SANDBOX_READY,
		CreatedAt:   timeOf(s.GetCreatedAt()),
		HostNetwork: s.GetLinux().GetNamespaces().GetOptions().GetNetwork() == runtimeapi.NamespaceMode_NODE,
		Labels:      s.GetLabels(),
		Annotations: s.GetAnnotations(),
	}
	if ip := s.GetNetwork().GetIp(); ip != "" {
		observed.IPs = append(observed.IPs, ip)
	}
	for _, ip := range s.GetNetwork().GetAdditionalIps() {
		observed.IPs = append(observed.IPs, ip.GetIp())
	}
	return observed
}

func listedContainer(c *runtimeapi.Container) status.ObservedContainer {
	return status.ObservedContainer{
		ID:          c.GetId(),
		SandboxID:   c.GetPodSandboxId(),
		Name:        c.GetMetadata().GetName(),
		Attempt:     c.GetMetadata().GetAttempt(),
		State:       stateOf(c.GetState()),
		CreatedAt:   timeOf(c.GetCreatedAt()),
		Image:       imageName(c.GetImage()),
		ImageRef:    c.GetImageRef(),
		Hash:        definitionHash(c.GetAnnotations()),
		Labels:      c.GetLabels(),
		Annotations: c.GetAnnotations(),
	}
}

// inspectedContainer wants the sandbox's ID from the listing: a container's
// status does not tell.
func inspectedContainer(c *runtimeapi.ContainerStatus, sandboxID string) status.ObservedContainer {
	observed := status.ObservedContainer{
		ID:          c.GetId(),
		SandboxID:   sandboxID,
		Name:        c.GetMetadata().GetName(),
		Attempt:     c.GetMetadata().GetAttempt(),
		State:       stateOf(c.GetState()),
		CreatedAt:   timeOf(c.GetCreatedAt()),
		StartedAt:   timeOf(c.GetStartedAt()),
		FinishedAt:  timeOf(c.GetFinishedAt()),
		ExitCode:    c.GetExitCode(),
		Reason:      c.GetReason(),
		Message:     c.GetMessage(),
		Image:       imageName(c.GetImage()),
		ImageRef:    c.GetImageRef(),
		Hash:        definitionHash(c.GetAnnotations()),
		LogPath:     c.GetLogPath(),
		Labels:      c.GetLabels(),
		Annotations: c.GetAnnotations(),
	}
	if observed.State == status.StateExited {
		if left := terminationMessage(c); left != "" {
			observed.Message = strings.TrimPrefix(observed.Message+": "+left, ": ")
		}
	}
	return observed
}

func stateOf(s runtimeapi.ContainerState) status.ContainerState {
	switch s {
	case runtimeapi.ContainerState_CONTAINER_CREATED:
		return status.StateCreated
	case runtimeapi.ContainerState_CONTAINER_RUNNING:
		return status.StateRunning
	case runtimeapi.ContainerState_CONTAINER_EXITED:
		return status.StateExited
	default:
		return status.StateUnknown
	}
}

// imageName is the name the runtime has for an image, and where that is only
// an ID the name that was asked for.
func imageName(spec *runtimeapi.ImageSpec) string {
	if name := spec.GetImage(); name != "" && !strings.HasPrefix(name, "sha256:") || spec.GetUserSpecifiedImage() == "" {
		return name
	}
	return spec.GetUserSpecifiedImage()
}

// timeOf turns the CRI's nanoseconds, 0 for never, into a time.
func timeOf(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds)
}
