package runtime

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Idle reports whether nothing of a pod runs, for all that the runtime knows, and
// nothing of it is foreign: what lives in its cgroup nevertheless has been
// forgotten by the runtime, and was ours.
func (r *Runtime) Idle(ctx context.Context, uid types.UID) (bool, error) {
	selector := map[string]string{pod.LabelPodUID: string(uid)}
	sandboxes, err := r.listSandboxes(ctx, selector)
	if err != nil {
		return false, err
	}
	for _, s := range sandboxes {
		if !r.ours(s.GetAnnotations(), s.GetLabels()) || s.GetState() == runtimeapi.PodSandboxState_SANDBOX_READY {
			return false, nil
		}
	}
	containers, err := r.cri.ListContainers(ctx, &runtimeapi.ListContainersRequest{Filter: &runtimeapi.ContainerFilter{LabelSelector: selector}})
	if err != nil {
		return false, fmt.Errorf("list containers: %w", err)
	}
	for _, c := range containers.GetContainers() {
		if !r.ours(c.GetAnnotations(), c.GetLabels()) || c.GetState() != runtimeapi.ContainerState_CONTAINER_EXITED {
			return false, nil
		}
	}
	return true, nil
}
