package node

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Pods are the pods the agent knows, by name, as `wardlet get pods -o json` gives them.
func (n *Node) Pods(ctx context.Context) (map[string]v1.Pod, error) {
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
	// kubectl calls every list a List.
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

// Sandboxes is how many sandboxes of a pod, by its name, the runtime has.
func (n *Node) Sandboxes(ctx context.Context, pod string) (int, error) {
	list, err := n.cri.ListPodSandbox(ctx, &criapi.ListPodSandboxRequest{})
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
