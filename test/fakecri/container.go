package fakecri

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// container is one container; config, image and program never change.
type container struct {
	id         string
	sandbox    *sandbox
	config     *runtimeapi.ContainerConfig
	image      *image
	program    Program
	state      runtimeapi.ContainerState
	createdAt  time.Time
	startedAt  time.Time
	finishedAt time.Time
	exitCode   int32
	reason     string
	message    string
	// kept is set by Keep.
	kept bool
}

// CreateContainer requires a ready sandbox, a free name and a present image.
func (s runtimeService) CreateContainer(_ context.Context, r *runtimeapi.CreateContainerRequest) (*runtimeapi.CreateContainerResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.sandboxes[r.GetPodSandboxId()]
	if box == nil {
		return nil, notFound("sandbox", r.GetPodSandboxId())
	}
	if !box.ready {
		return nil, status.Errorf(codes.Unknown, "failed to get sandbox container task of %q: no running task found", box.id)
	}
	name := containerName(box, r.GetConfig())
	for _, other := range s.containers {
		if containerName(other.sandbox, other.config) == name {
			return nil, reserved("container", name, other.id)
		}
	}
	img := s.find(r.GetConfig().GetImage().GetImage())
	if img == nil {
		return nil, notFound("image", r.GetConfig().GetImage().GetImage())
	}
	made := &container{
		id: s.newID(), sandbox: box, config: r.GetConfig(), image: img, program: img.program,
		state: runtimeapi.ContainerState_CONTAINER_CREATED, createdAt: s.now(),
	}
	s.containers[made.id] = made
	s.emit(box, made.id, runtimeapi.ContainerEventType_CONTAINER_CREATED_EVENT)
	return &runtimeapi.CreateContainerResponse{ContainerId: made.id}, nil
}

// StartContainer starts a created container, once.
func (s runtimeService) StartContainer(_ context.Context, r *runtimeapi.StartContainerRequest) (*runtimeapi.StartContainerResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.containers[r.GetContainerId()]
	if c == nil {
		return nil, notFound("container", r.GetContainerId())
	}
	if c.state != runtimeapi.ContainerState_CONTAINER_CREATED {
		return nil, status.Errorf(codes.Unknown, "container %q is in %s state", c.id, c.state)
	}
	if text := c.program.StartError; text != "" {
		c.exit(s.now(), 128, "StartError")
		c.message = text
		return nil, status.Error(codes.Unknown, text)
	}
	if err := c.start(c.program, s.now()); err != nil {
		return nil, status.Errorf(codes.Internal, "fakecri: %v", err)
	}
	c.state, c.startedAt = runtimeapi.ContainerState_CONTAINER_RUNNING, s.now()
	s.emit(c.sandbox, c.id, runtimeapi.ContainerEventType_CONTAINER_STARTED_EVENT)
	return &runtimeapi.StartContainerResponse{}, nil
}

// StopContainer ends a container at once, or after the timeout if its
// program ignores the signal. For an unknown container it succeeds.
func (s runtimeService) StopContainer(ctx context.Context, r *runtimeapi.StopContainerRequest) (*runtimeapi.StopContainerResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.containers[r.GetContainerId()]
	if c == nil {
		return &runtimeapi.StopContainerResponse{}, nil
	}
	s.settle(c)
	code := int32(143)
	if c.program.IgnoresTerm && c.state == runtimeapi.ContainerState_CONTAINER_RUNNING {
		code = 137
		s.mu.Unlock()
		err := sleep(ctx, time.Duration(r.GetTimeout())*time.Second)
		s.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	s.end(c, code, "Error")
	return &runtimeapi.StopContainerResponse{}, nil
}

// ReopenContainerLog makes the log file of a running container, unless it exists.
func (s runtimeService) ReopenContainerLog(_ context.Context, r *runtimeapi.ReopenContainerLogRequest) (*runtimeapi.ReopenContainerLogResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.containers[r.GetContainerId()]
	if c == nil {
		return nil, notFound("container", r.GetContainerId())
	}
	s.settle(c)
	if c.state != runtimeapi.ContainerState_CONTAINER_RUNNING {
		return nil, status.Error(codes.Unknown, "container is not running")
	}
	log, err := os.OpenFile(c.logPath(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o640)
	if err != nil {
		return nil, status.Errorf(codes.Unknown, "failed to create container loggers: %v", err)
	}
	return &runtimeapi.ReopenContainerLogResponse{}, log.Close()
}

// RemoveContainer removes a container, running or not, unless it is kept. For an
// unknown container it succeeds.
func (s runtimeService) RemoveContainer(_ context.Context, r *runtimeapi.RemoveContainerRequest) (*runtimeapi.RemoveContainerResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := keeps(s.containers[r.GetContainerId()]); err != nil {
		return nil, err
	}
	s.removeContainer(r.GetContainerId())
	return &runtimeapi.RemoveContainerResponse{}, nil
}

func (s *Server) removeContainer(id string) {
	if c := s.containers[id]; c != nil {
		delete(s.containers, id)
		s.emit(c.sandbox, id, runtimeapi.ContainerEventType_CONTAINER_DELETED_EVENT)
	}
}

// ContainerStatus returns NotFound for an unknown container.
func (s runtimeService) ContainerStatus(_ context.Context, r *runtimeapi.ContainerStatusRequest) (*runtimeapi.ContainerStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.containers[r.GetContainerId()]
	if c == nil {
		return nil, notFound("container", r.GetContainerId())
	}
	s.settle(c)
	return &runtimeapi.ContainerStatusResponse{Status: c.status()}, nil
}

func (c *container) status() *runtimeapi.ContainerStatus {
	return &runtimeapi.ContainerStatus{
		Id:          c.id,
		Metadata:    c.config.GetMetadata(),
		State:       c.state,
		CreatedAt:   c.createdAt.UnixNano(),
		StartedAt:   nanoseconds(c.startedAt),
		FinishedAt:  nanoseconds(c.finishedAt),
		ExitCode:    c.exitCode,
		Image:       &runtimeapi.ImageSpec{Image: c.image.name},
		ImageRef:    c.image.digest(),
		ImageId:     c.image.id(),
		Reason:      c.reason,
		Message:     c.message,
		Labels:      c.config.GetLabels(),
		Annotations: c.config.GetAnnotations(),
		Mounts:      c.config.GetMounts(),
		LogPath:     c.logPath(),
		StopSignal:  c.config.GetStopSignal(),
	}
}

// ListContainers filters by ID, sandbox, state and labels.
func (s runtimeService) ListContainers(_ context.Context, r *runtimeapi.ListContainersRequest) (*runtimeapi.ListContainersResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	filter := r.GetFilter()
	answer := &runtimeapi.ListContainersResponse{}
	for _, id := range slices.Sorted(maps.Keys(s.containers)) {
		c := s.containers[id]
		s.settle(c)
		if filter.GetId() != "" && filter.GetId() != id ||
			filter.GetPodSandboxId() != "" && filter.GetPodSandboxId() != c.sandbox.id ||
			filter.GetState() != nil && filter.GetState().GetState() != c.state ||
			!selects(filter.GetLabelSelector(), c.config.GetLabels()) {
			continue
		}
		answer.Containers = append(answer.Containers, &runtimeapi.Container{
			Id:           id,
			PodSandboxId: c.sandbox.id,
			Metadata:     c.config.GetMetadata(),
			Image:        c.config.GetImage(),
			ImageRef:     c.image.id(),
			State:        c.state,
			CreatedAt:    c.createdAt.UnixNano(),
			Labels:       c.config.GetLabels(),
			Annotations:  c.config.GetAnnotations(),
			ImageId:      c.image.id(),
		})
	}
	return answer, nil
}

// Exit makes a running container exit now with a code.
func (s *Server) Exit(id string, code int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.containers[id]; c != nil {
		s.end(c, code, reasonOf(code))
	}
}

// Newest returns the ID of the newest instance of a pod's container, "" if
// there is none.
func (s *Server) Newest(podName, containerName string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var newest *container
	for _, c := range s.containers {
		if c.sandbox.config.GetMetadata().GetName() != podName || c.config.GetMetadata().GetName() != containerName {
			continue
		}
		if newest == nil || c.createdAt.After(newest.createdAt) {
			newest = c
		}
	}
	if newest == nil {
		return ""
	}
	return newest.id
}

func containerName(box *sandbox, config *runtimeapi.ContainerConfig) string {
	return fmt.Sprintf("%s_%d_%s", config.GetMetadata().GetName(), config.GetMetadata().GetAttempt(), sandboxName(box.config))
}

func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
