package runtime

import (
	"context"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// Foreign counts the pods that do not belong to this installation.
func (r *Runtime) Foreign(ctx context.Context) (int, error) {
	sandboxes, err := r.listSandboxes(ctx, nil)
	if err != nil {
		return 0, err
	}
	foreign := map[string]bool{}
	for _, s := range sandboxes {
		if !r.owns(s.GetAnnotations(), s.GetLabels()) {
			foreign[s.GetMetadata().GetUid()] = true
		}
	}
	return len(foreign), nil
}

// ForeignKubelet reports whether there are pods that look like a kubelet's: they have its labels
// and no mark of any Wardlet. A kubelet terminates unknown pods in the runtime, including those of
// Wardlet.
func (r *Runtime) ForeignKubelet(ctx context.Context) (bool, error) {
	sandboxes, err := r.listSandboxes(ctx, nil)
	if err != nil {
		return false, err
	}
	for _, s := range sandboxes {
		_, marked := s.GetAnnotations()[pod.AnnotationInstallation]
		if madeByKubelet(s.GetLabels()) && !marked {
			return true, nil
		}
	}
	return false, nil
}

// KubeletWarning is logged if Runtime.ForeignKubelet returns true.
const KubeletWarning = "pods of a kubelet are present; a kubelet ends runtime pods it does not know, ours among them"

// foreignPoll is how often the runtime is called until it has answered once.
const foreignPoll = 5 * time.Second

// WatchForeign logs, once the runtime answers, what conflicts with the agent: pods made by a
// kubelet, and a cgroup driver with which no pod starts. It returns when ctx is done.
func (r *Runtime) WatchForeign(ctx context.Context) {
	tick := time.NewTicker(foreignPoll)
	defer tick.Stop()
	for {
		kubelet, err := r.ForeignKubelet(ctx)
		if err == nil {
			if kubelet {
				r.config.Logger.Warn(KubeletWarning)
			}
			r.logDriver(ctx)
			<-ctx.Done()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// logDriver logs an error if the runtime's cgroup driver is not the agent's. A
// runtime that does not report its driver is not logged: its pods may start.
func (r *Runtime) logDriver(ctx context.Context) {
	if r.config.CgroupDriver == "" {
		return
	}
	driver, err := r.config.Client.CgroupDriver(ctx)
	if err != nil {
		return
	}
	if mismatch := DriverMismatch(driver, r.config.CgroupDriver); mismatch != nil {
		r.config.Logger.Error("no pod can start", "err", mismatch)
	}
}
