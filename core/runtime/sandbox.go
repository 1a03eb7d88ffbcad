package runtime

import (
	"context"
	"fmt"
	"os"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/runtime/criconfig"
)

// RunSandbox makes and starts a sandbox and returns its ID. The runtime refuses an attempt that was
// made before. If many sandboxes are being made, it waits for a slot.
func (r *Runtime) RunSandbox(ctx context.Context, run pod.SandboxRun) (string, error) {
	handler, err := r.handler(ctx, run.Pod)
	if err != nil {
		return "", err
	}
	config, notices, err := r.configs.Sandbox(&run)
	if err != nil {
		return "", fmt.Errorf("configure sandbox: %w", err)
	}
	r.emitNotices(run.Pod, notices)
	if err := os.MkdirAll(config.LogDirectory, 0o755); err != nil { // log collectors must read it
		return "", fmt.Errorf("log directory: %w", err)
	}
	done, err := r.limiter.acquireSandbox(ctx)
	if err != nil {
		return "", fmt.Errorf("run sandbox: %w", err)
	}
	defer done()
	answer, err := r.cri.RunPodSandbox(ctx, &runtimeapi.RunPodSandboxRequest{Config: config, RuntimeHandler: handler})
	switch {
	case err != nil && handler != "":
		return "", fmt.Errorf("run sandbox with the runtime handler %q: %w", handler, r.explain(ctx, err))
	case err != nil:
		return "", fmt.Errorf("run sandbox: %w", r.explain(ctx, err))
	}
	return answer.GetPodSandboxId(), nil
}

// handler returns the runtime handler of the pod's runtime class, empty for the runtime's default.
func (r *Runtime) handler(ctx context.Context, p *v1.Pod) (string, error) {
	if p.Spec.RuntimeClassName == nil || *p.Spec.RuntimeClassName == "" {
		return "", nil
	}
	handler, err := r.config.Handler(ctx, p)
	if err != nil {
		return "", fmt.Errorf("runtimeClassName: %w", err)
	}
	return handler, nil
}

// StopSandbox stops everything in a sandbox and releases its network. A sandbox that does not exist
// counts as stopped.
func (r *Runtime) StopSandbox(ctx context.Context, id string) error {
	_, err := r.cri.StopPodSandbox(ctx, &runtimeapi.StopPodSandboxRequest{PodSandboxId: id})
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("stop sandbox %s: %w", id, err)
	}
	return nil
}

// RemoveSandbox removes a stopped sandbox. A sandbox that does not exist counts as removed.
func (r *Runtime) RemoveSandbox(ctx context.Context, id string) error {
	_, err := r.cri.RemovePodSandbox(ctx, &runtimeapi.RemovePodSandboxRequest{PodSandboxId: id})
	if err != nil && !isNotFound(err) {
		return fmt.Errorf("remove sandbox %s: %w", id, err)
	}
	return nil
}

// maxNoticed is the size of a noticeLog. If it is full it is cleared, so at worst a notice is
// repeated.
const maxNoticed = 1000

// noticeLog records which notices have been emitted for a pod, so that repeated tries of a sandbox
// do not repeat them.
type noticeLog struct {
	mu   sync.Mutex
	seen map[noticedKey]bool
}

type noticedKey struct {
	uid    types.UID
	reason string
}

// first reports whether this notice is emitted for the pod for the first time, and records it.
func (n *noticeLog) first(uid types.UID, reason string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := noticedKey{uid, reason}
	if n.seen[key] {
		return false
	}
	if n.seen == nil || len(n.seen) >= maxNoticed {
		n.seen = map[noticedKey]bool{}
	}
	n.seen[key] = true
	return true
}

// emitNotices emits an event for each notice, once per pod.
func (r *Runtime) emitNotices(p *v1.Pod, notices []criconfig.Notice) {
	for _, n := range notices {
		if r.notices.first(p.UID, n.Reason) {
			r.config.Events.Event(p, v1.EventTypeWarning, n.Reason, n.Message)
		}
	}
}
