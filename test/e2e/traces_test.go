//go:build e2e

package e2e

import (
	"context"
	"strings"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// marked returns how many sandboxes and containers the agent on the named node made.
func (n node) marked(ctx context.Context, nodeName string) (int, error) {
	count := 0
	sandboxes, err := n.CRI.ListPodSandbox(ctx, &criapi.ListPodSandboxRequest{})
	if err != nil {
		return 0, err
	}
	for _, s := range sandboxes.GetItems() {
		if strings.HasSuffix(s.GetMetadata().GetName(), "-"+nodeName) {
			count++
		}
	}
	containers, err := n.CRI.ListContainers(ctx, &criapi.ListContainersRequest{})
	if err != nil {
		return 0, err
	}
	for _, c := range containers.GetContainers() {
		if strings.HasSuffix(c.GetLabels()["io.kubernetes.pod.name"], "-"+nodeName) {
			count++
		}
	}
	return count, nil
}
