package runtime

import (
	"context"
	"fmt"
	"os"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// RunSandbox makes and starts a sandbox and gives its ID. An attempt that was
// made before is refused by the runtime. Where many are made it waits for its turn.
func (r *Runtime) RunSandbox(ctx context.Context, run pod.SandboxRun) (string, error) {
	config, notices, err := r.sandboxConfig(&run)
	if err != nil {
		return "", fmt.Errorf("configure sandbox: %w", err)
	}
	r.notify(run.Pod, notices)
	if err := os.MkdirAll(config.LogDirectory, 0o755); err != nil { // log collectors must read it
		return "", fmt.Errorf("log directory: %w", err)
	}
	done, err := r.starts.sandbox(ctx)
	if err != nil {
		return "", fmt.Errorf("run sandbox: %w", err)
	}
	defer done()
	answer, err := r.cri.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		return "", fmt.Errorf("run sandbox: %w", r.explain(ctx, err))
	}
	return answer.GetPodSandboxId(), nil
}

// StopSandbox ends whatever runs in a sandbox and frees its network. One that
// does not exist is stopped.
func (r *Runtime) StopSandbox(ctx context.Context, id string) error {
	_, err := r.cri.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: id})
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("stop sandbox %s: %w", id, err)
	}
	return nil
}

// RemoveSandbox removes a stopped sandbox. One that does not exist is
// removed.
func (r *Runtime) RemoveSandbox(ctx context.Context, id string) error {
	_, err := r.cri.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: id})
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("remove sandbox %s: %w", id, err)
	}
	return nil
}
