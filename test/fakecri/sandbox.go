package fakecri

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// sandbox is one pod sandbox; config never changes.
type sandbox struct {
	id        string
	config    *runtimeapi.PodSandboxConfig
	ready     bool
	createdAt int64
	ip        string
}

type runtimeService struct {
	runtimeapi.UnimplementedRuntimeServiceServer
	*Server
}

// Version answers as containerd does.
func (runtimeService) Version(context.Context, *runtimeapi.VersionRequest) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{Version: "0.1.0", RuntimeName: "fakecri", RuntimeVersion: "1.0.0", RuntimeApiVersion: "v1"}, nil
}

// Status reports the two conditions that SetReady sets.
func (s runtimeService) Status(context.Context, *runtimeapi.StatusRequest) (*runtimeapi.StatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	condition := func(kind string, ok bool) *runtimeapi.RuntimeCondition {
		c := &runtimeapi.RuntimeCondition{Type: kind, Status: ok}
		if !ok {
			c.Reason, c.Message = kind+"Missing", "the test says so"
		}
		return c
	}
	return &runtimeapi.StatusResponse{Status: &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
		condition(runtimeapi.RuntimeReady, s.runtimeReady),
		condition(runtimeapi.NetworkReady, s.networkReady),
	}}}, nil
}

// RuntimeConfig reports the driver that SetCgroupDriver sets.
func (s runtimeService) RuntimeConfig(context.Context, *runtimeapi.RuntimeConfigRequest) (*runtimeapi.RuntimeConfigResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.linux == nil {
		return &runtimeapi.RuntimeConfigResponse{}, nil
	}
	return &runtimeapi.RuntimeConfigResponse{Linux: &runtimeapi.LinuxRuntimeConfiguration{CgroupDriver: *s.linux}}, nil
}

// UpdateRuntimeConfig keeps the pod CIDR for PodCIDR.
func (s runtimeService) UpdateRuntimeConfig(_ context.Context, r *runtimeapi.UpdateRuntimeConfigRequest) (*runtimeapi.UpdateRuntimeConfigResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.podCIDR = r.GetRuntimeConfig().GetNetworkConfig().GetPodCidr()
	return &runtimeapi.UpdateRuntimeConfigResponse{}, nil
}

// RunPodSandbox refuses a name that is in use, as containerd does.
func (s runtimeService) RunPodSandbox(_ context.Context, r *runtimeapi.RunPodSandboxRequest) (*runtimeapi.RunPodSandboxResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := sandboxName(r.GetConfig())
	for _, other := range s.sandboxes {
		if sandboxName(other.config) == name {
			return nil, reserved("sandbox", name, other.id)
		}
	}
	made := &sandbox{id: s.newID(), config: r.GetConfig(), ready: true, createdAt: s.now().UnixNano()}
	if namespaces(made.config).GetNetwork() == runtimeapi.NamespaceMode_POD {
		if !s.networkReady {
			return nil, status.Error(codes.Unknown, "failed to setup network for sandbox: cni plugin not initialized")
		}
		made.ip = fmt.Sprintf("10.88.%d.%d", s.sequence/250, 2+s.sequence%250)
	}
	s.sandboxes[made.id] = made
	s.emit(made, made.id, runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT)
	s.emit(made, made.id, runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT)
	return &runtimeapi.RunPodSandboxResponse{PodSandboxId: made.id}, nil
}

// StopPodSandbox ends all containers in the sandbox. For an unknown sandbox it succeeds.
func (s runtimeService) StopPodSandbox(_ context.Context, r *runtimeapi.StopPodSandboxRequest) (*runtimeapi.StopPodSandboxResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if box := s.sandboxes[r.GetPodSandboxId()]; box != nil {
		s.stopSandbox(box)
	}
	return &runtimeapi.StopPodSandboxResponse{}, nil
}

// RemovePodSandbox removes a sandbox with its containers, running or not, unless
// one of them is kept. For an unknown sandbox it succeeds.
func (s runtimeService) RemovePodSandbox(_ context.Context, r *runtimeapi.RemovePodSandboxRequest) (*runtimeapi.RemovePodSandboxResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if box := s.sandboxes[r.GetPodSandboxId()]; box != nil {
		s.stopSandbox(box)
		for id, c := range s.containers {
			if c.sandbox != box {
				continue
			}
			if err := keeps(c); err != nil {
				return nil, err
			}
			s.removeContainer(id)
		}
		s.emit(box, box.id, runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT)
		delete(s.sandboxes, box.id)
	}
	return &runtimeapi.RemovePodSandboxResponse{}, nil
}

// PodSandboxStatus returns NotFound for an unknown sandbox.
func (s runtimeService) PodSandboxStatus(_ context.Context, r *runtimeapi.PodSandboxStatusRequest) (*runtimeapi.PodSandboxStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.sandboxes[r.GetPodSandboxId()]
	if box == nil {
		return nil, notFound("sandbox", r.GetPodSandboxId())
	}
	return &runtimeapi.PodSandboxStatusResponse{Status: box.status()}, nil
}

// ListPodSandbox filters by ID, state and labels.
func (s runtimeService) ListPodSandbox(_ context.Context, r *runtimeapi.ListPodSandboxRequest) (*runtimeapi.ListPodSandboxResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	filter := r.GetFilter()
	answer := &runtimeapi.ListPodSandboxResponse{}
	for _, id := range slices.Sorted(maps.Keys(s.sandboxes)) {
		box := s.sandboxes[id]
		if filter.GetId() != "" && filter.GetId() != id ||
			filter.GetState() != nil && filter.GetState().GetState() != box.state() ||
			!selects(filter.GetLabelSelector(), box.config.GetLabels()) {
			continue
		}
		answer.Items = append(answer.Items, &runtimeapi.PodSandbox{
			Id:          id,
			Metadata:    box.config.GetMetadata(),
			State:       box.state(),
			CreatedAt:   box.createdAt,
			Labels:      box.config.GetLabels(),
			Annotations: box.config.GetAnnotations(),
		})
	}
	return answer, nil
}

// KillSandbox makes a sandbox not ready, as the death of its pause process does.
func (s *Server) KillSandbox(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if box := s.sandboxes[id]; box != nil {
		s.stopSandbox(box)
	}
}

func (s *Server) stopSandbox(box *sandbox) {
	was := box.ready
	box.ready = false
	for _, c := range s.containers {
		if c.sandbox == box {
			s.end(c, 137, "Error")
		}
	}
	if was {
		s.emit(box, box.id, runtimeapi.ContainerEventType_CONTAINER_STOPPED_EVENT)
	}
}

func (b *sandbox) status() *runtimeapi.PodSandboxStatus {
	return &runtimeapi.PodSandboxStatus{
		Id:          b.id,
		Metadata:    b.config.GetMetadata(),
		State:       b.state(),
		CreatedAt:   b.createdAt,
		Network:     &runtimeapi.PodSandboxNetworkStatus{Ip: b.ip},
		Linux:       &runtimeapi.LinuxPodSandboxStatus{Namespaces: &runtimeapi.Namespace{Options: namespaces(b.config)}},
		Labels:      b.config.GetLabels(),
		Annotations: b.config.GetAnnotations(),
	}
}

func (b *sandbox) state() runtimeapi.PodSandboxState {
	if b.ready {
		return runtimeapi.PodSandboxState_SANDBOX_READY
	}
	return runtimeapi.PodSandboxState_SANDBOX_NOTREADY
}

func namespaces(config *runtimeapi.PodSandboxConfig) *runtimeapi.NamespaceOption {
	return config.GetLinux().GetSecurityContext().GetNamespaceOptions()
}

func sandboxName(config *runtimeapi.PodSandboxConfig) string {
	m := config.GetMetadata()
	return fmt.Sprintf("%s_%s_%s_%d", m.GetName(), m.GetNamespace(), m.GetUid(), m.GetAttempt())
}

func reserved(kind, name, id string) error {
	return status.Errorf(codes.FailedPrecondition, "failed to reserve %s name %q: name %q is reserved for %q", kind, name, name, id)
}

func notFound(kind, id string) error {
	return status.Errorf(codes.NotFound, "an error occurred when try to find %s %q: not found", kind, id)
}

func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}
