package node

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Container is what the runtime says of a container that runs.
type Container struct {
	ID string
	// PID is its first process.
	PID     int
	Started time.Time
}

// Container asks the runtime about the container of a status; one that does not run is an error.
func (n *Node) Container(ctx context.Context, status v1.ContainerStatus) (Container, error) {
	_, id, ok := strings.Cut(status.ContainerID, "://")
	if !ok {
		return Container{}, fmt.Errorf("container %s has no ID yet", status.Name)
	}
	answer, err := n.cri.ContainerStatus(ctx, &criapi.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return Container{}, fmt.Errorf("ask the runtime for container %s: %w", short(id), err)
	}
	if state := answer.GetStatus().GetState(); state != criapi.ContainerState_CONTAINER_RUNNING {
		return Container{}, fmt.Errorf("the runtime says that container %s is %s", short(id), state)
	}
	pid, err := parsePID(answer.GetInfo())
	if err != nil {
		return Container{}, fmt.Errorf("ask the runtime for container %s: %w", short(id), err)
	}
	return Container{id, pid, time.Unix(0, answer.GetStatus().GetStartedAt())}, nil
}

// parsePID reads the process from what containerd tells beside a container's status.
func parsePID(verbose map[string]string) (int, error) {
	var info struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(verbose["info"]), &info); err != nil {
		return 0, fmt.Errorf("read its process: %w", err)
	}
	if info.PID <= 1 {
		return 0, fmt.Errorf("its process is %d", info.PID)
	}
	return info.PID, nil
}

// short is an ID as people name it.
func short(id string) string { return id[:min(len(id), 12)] }

// Short is the beginning of the container's ID.
func (c Container) Short() string { return short(c.ID) }
