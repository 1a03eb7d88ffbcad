package fakecri

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Keep makes the runtime lose track of a container, as containerd does when a
// start is canceled at a bad moment. The runtime then shows the container as exited, stopping
// it has no effect, and neither the container nor its sandbox can be removed until Serve.
func (s *Server) Keep(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.containers[id]
	if c == nil {
		return
	}
	c.kept = true
	if c.state != runtimeapi.ContainerState_CONTAINER_EXITED {
		c.exit(s.now(), 128, "StartError")
		c.message = "failed to create containerd task: failed to get task pid: context canceled"
	}
}

// keeps returns the error of removing a container that is kept, nil for other containers.
func keeps(c *container) error {
	if c == nil || !c.kept {
		return nil
	}
	return status.Errorf(codes.FailedPrecondition, "failed to delete containerd container %q: cannot delete running task %s: failed precondition", c.id, c.id)
}
