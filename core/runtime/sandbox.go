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

// RunSandbox makes and starts a sandbox and returns its ID. An attempt that was
// made before is refused by the runtime. Where many are made it waits for its turn.
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

// handler returns the name that the runtime has for the pod's class, empty for the runtime's default.
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

// maxNoticed bounds what is remembered; beyond, it starts anew and at worst a
// notice is repeated.
const maxNoticed = 1000

// noticeLog records which notices a pod has had, so that a sandbox that is tried again
// and again does not repeat them.
type noticeLog struct {
	mu   sync.Mutex
	seen map[noticedKey]bool
}

type noticedKey struct {
	uid    types.UID
	reason string
}

// first reports whether the pod has not had this notice yet.
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

// emitNotices makes events of notices, each once per pod.
func (r *Runtime) emitNotices(p *v1.Pod, notices []criconfig.Notice) {
	for _, n := range notices {
		if r.notices.first(p.UID, n.Reason) {
			r.config.Events.Event(p, v1.EventTypeWarning, n.Reason, n.Message)
		}
	}
}
