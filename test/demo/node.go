package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/harness"
)

// nodeName is the node's name: a pod web is named web-edge here.
const nodeName = "edge"

// node is the node of the demonstration.
type node struct{ *harness.Node }

// drop writes the manifest NAME.yaml of a pod with one container of the image, as
// `kubectl run NAME --image=IMAGE --dry-run=client -o yaml` would.
func (n *node) drop(name, image string) error {
	return harness.Replace(n.Manifest(name+".yaml"), fmt.Appendf(nil, `apiVersion: v1
kind: Pod
metadata:
  creationTimestamp: null
  labels:
    run: %[1]s
  name: %[1]s
spec:
  containers:
  - image: %[2]s
    name: %[1]s
    resources: {}
  dnsPolicy: ClusterFirst
  restartPolicy: Always
status: {}
`, name, image))
}

// pods returns the agent's pods, by name, as `wardlet get pods -o json` prints them.
func (n *node) pods(ctx context.Context) (map[string]v1.Pod, error) {
	out, err := n.Wardlet(ctx, "get", "pods", "-o", "json")
	if err != nil {
		return nil, err
	}
	return parsePods(out)
}

func parsePods(list string) (map[string]v1.Pod, error) {
	var parsed v1.PodList
	if err := json.Unmarshal([]byte(list), &parsed); err != nil {
		return nil, fmt.Errorf("read the list of pods: %w", err)
	}
	// kubectl prints every list with the kind List.
	if parsed.Kind != "PodList" && parsed.Kind != "List" {
		return nil, fmt.Errorf("the list of pods is a %q", parsed.Kind)
	}
	pods := map[string]v1.Pod{}
	for _, p := range parsed.Items {
		if other, twice := pods[p.Name]; twice {
			return nil, fmt.Errorf("two pods are named %s: %s and %s", p.Name, other.UID, p.UID)
		}
		pods[p.Name] = p
	}
	return pods, nil
}

// sandboxes returns how many sandboxes of a pod with this name the runtime has.
func (n *node) sandboxes(ctx context.Context, pod string) (int, error) {
	list, err := n.Runtime.CRI.ListPodSandbox(ctx, &criapi.ListPodSandboxRequest{})
	if err != nil {
		return 0, fmt.Errorf("ask the runtime for its pods: %w", err)
	}
	count := 0
	for _, sandbox := range list.GetItems() {
		if sandbox.GetMetadata().GetName() == pod {
			count++
		}
	}
	return count, nil
}

// observed is what the runtime reports about a running container.
type observed struct {
	id string
	// pid is its first process.
	pid     int
	started time.Time
}

// container asks the runtime about the container of a status. If it does not run, that is an error.
func (n *node) container(ctx context.Context, status v1.ContainerStatus) (observed, error) {
	_, id, ok := strings.Cut(status.ContainerID, "://")
	if !ok {
		return observed{}, fmt.Errorf("container %s has no ID yet", status.Name)
	}
	answer, err := n.Runtime.CRI.ContainerStatus(ctx, &criapi.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return observed{}, fmt.Errorf("ask the runtime for container %s: %w", short(id), err)
	}
	if state := answer.GetStatus().GetState(); state != criapi.ContainerState_CONTAINER_RUNNING {
		return observed{}, fmt.Errorf("the runtime says that container %s is %s", short(id), state)
	}
	pid, err := parsePID(answer.GetInfo())
	if err != nil {
		return observed{}, fmt.Errorf("ask the runtime for container %s: %w", short(id), err)
	}
	return observed{id, pid, time.Unix(0, answer.GetStatus().GetStartedAt())}, nil
}

// parsePID reads the process ID from the additional information that containerd returns with a
// container's status.
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

// short returns the short form of an ID that people use.
func short(id string) string { return id[:min(len(id), 12)] }

// short is the beginning of the container's ID.
func (c observed) short() string { return short(c.id) }
